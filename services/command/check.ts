import { typeMessage } from './describe-value.ts';
import type { BodyProblem } from './problem.ts';
import type { RelationScope } from './relation-scope.ts';

/**
 * Settings for validating a body or a stored entry. `strength`: drafts may be incomplete, published entries may not.
 * `mode`: a `creation` gets defaults and needs required values, an `update` is validated by its keys. `publish`
 * validates a stored entry, where absent means null and passwords are hashes.
 */
export type Check = {
  readonly strength: 'draft' | 'published';
  readonly mode: 'creation' | 'update' | 'publish';
  /** True for a new entry, also in a new locale: its required lists must be sent, even for a draft. */
  readonly isNewEntry: boolean;
  /** Strength for passwords. Only the body has them as clear text, so they are validated at once, as strictly as the whole write. */
  readonly passwords: 'draft' | 'published';
  /** Output: every problem found. */
  readonly problems: BodyProblem[];
  /** Output: dates and times that cannot be parsed. Strapi reports only the first of them, and only if there is no other problem. */
  readonly unreadable: string[];
  /** Argon2id hash by clear text of every password in the body. */
  readonly hashes: ReadonlyMap<string, string>;
};

/** Settings for validating a whole entry, with the state of its relations. */
export type EntryCheck = Check & { readonly relations: RelationScope };

/** Adds a problem of the body, at a path of it. For some problems Strapi's answers contain the value. */
export function report(check: Check, path: string, message: string, value?: unknown): undefined {
  check.problems.push(value === undefined ? { path, message } : { path, message, value });
}

/** Adds a problem of a value that is not of a type. */
export function reportType(check: Check, path: string, type: string, value: unknown): undefined {
  return report(check, path, typeMessage(path, type, value, value), value);
}

/** Returns whether required values must be present now. */
export function isComplete(check: Check): boolean {
  return check.strength === 'published';
}
