import { AsyncLocalStorage } from 'node:async_hooks';
import type { Author } from './command.ts';

const authors = new AsyncLocalStorage<Author>();

/** Runs `work` on behalf of an author: whatever it writes, and whatever it calls writes, is the author's. */
export function actAs<Result>(author: Author, work: () => Result): Result {
  return authors.run(author, work);
}

/** Author of the current work; undefined if none is set. */
export function currentAuthor(): Author | undefined {
  return authors.getStore();
}

/** Author of the current request; without a request an operator did it, by a setting or by a command. */
export function requestOrOperator(): Author {
  return currentAuthor() ?? { actor: { kind: 'operator' } };
}
