import type { BodyProblem } from './problem.ts';

/**
 * Settings for validating a body or a stored entry. `strength`: drafts may be incomplete, published entries may not.
 * `mode`: a `creation` gets defaults and needs required values, an `update` is validated by its keys. `publish`
 * validates a stored entry, where absent means null and passwords are hashes.
 */
export type Check = {
  readonly strength: 'draft' | 'published';
  readonly mode: 'creation' | 'update' | 'publish';
  /** A new entry, also in a new locale, has to be sent with its required lists, even as a draft. */
  readonly isNewEntry: boolean;
  /**
   * Strength for passwords: only the body has them in clear, so they are validated at once, as strictly as the whole
   * write.
   */
  readonly passwords: 'draft' | 'published';
  /** Filled: every problem found. */
  readonly problems: BodyProblem[];
  /** Filled: dates and times that cannot be read. Strapi reports the first of them alone, when there is no other problem. */
  readonly unreadable: string[];
  /** Argon2id hash by clear text of every password in the body. */
  readonly hashes: ReadonlyMap<string, string>;
};

/** Adds a problem of the body, at a path of it. Strapi's answers have the value for some problems. */
export function report(check: Check, path: string, message: string, value?: unknown): void {
  check.problems.push(value === undefined ? { path, message } : { path, message, value });
}

/** Returns whether required values must be present now. */
export function isComplete(check: Check): boolean {
  return check.strength === 'published';
}
