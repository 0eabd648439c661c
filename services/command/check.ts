import type { Problem } from './problem.ts';

/**
 * How a body or a stored entry is judged. `strength`: drafts may be incomplete, what is published may not. `mode`: a
 * `creation` gets defaults and needs what is required, an `update` is judged by the keys it has, `publish` judges a stored
 * entry, where absent means null and passwords are hashes.
 */
export type Check = {
  readonly strength: 'draft' | 'published';
  readonly mode: 'creation' | 'update' | 'publish';
  /** How passwords are judged: only in the body are they in clear, so at once as strictly as the write as a whole. */
  readonly passwords: 'draft' | 'published';
  /** Filled: every problem found. */
  readonly problems: Problem[];
  /** Filled: dates and times that cannot be read. Strapi reports the first of them alone, when there is no other problem. */
  readonly unreadable: string[];
  /** Argon2id hash by clear text of every password in the body. */
  readonly hashes: ReadonlyMap<string, string>;
};

export function report(check: Check, path: string, message: string, value?: unknown): void {
  check.problems.push(value === undefined ? { path, message } : { path, message, value });
}

/** True when what is required must be there now. */
export function isComplete(check: Check): boolean {
  return check.strength === 'published';
}
