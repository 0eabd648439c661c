import { AsyncLocalStorage } from 'node:async_hooks';
import type { Author } from './command.ts';

const authors = new AsyncLocalStorage<Author>();

/** Runs `work` on behalf of an author. All writes by `work` and by functions that it calls have this author. */
export function actAs<Result>(author: Author, work: () => Result): Result {
  return authors.run(author, work);
}

/** Author of the current work; undefined if none is set. */
export function currentAuthor(): Author | undefined {
  return authors.getStore();
}

/** Returns the author of the current request. Without a request it is an operator, who used a setting or a command. */
export function requestOrOperator(): Author {
  return currentAuthor() ?? { actor: { kind: 'operator' } };
}
