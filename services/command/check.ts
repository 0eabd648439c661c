import type { BodyProblem } from './problem.ts';

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

/** Adds a problem of the body, at a path of it. For some problems Strapi's answers contain the value. */
export function report(check: Check, path: string, message: string, value?: unknown): void {
  check.problems.push(value === undefined ? { path, message } : { path, message, value });
}

/** Returns whether required values must be present now. */
export function isComplete(check: Check): boolean {
  return check.strength === 'published';
}
