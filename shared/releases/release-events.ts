import type { Uid } from '../schema/content-type.ts';

/** Events of releases: what is published or unpublished together, and when. A namespace has one stream of them. */

/** One entry of a release, and what happens to it. */
export type ReleaseAction = {
  readonly id: number;
  readonly type: 'publish' | 'unpublish';
  readonly contentType: Uid;
  readonly entryDocumentId: string;
  /** null on content types without i18n; `*`: every locale that the document then has. */
  readonly locale: string | null;
};

/** Name and time of a release. */
export type ReleaseHead = {
  readonly id: number;
  readonly name: string;
  /** ISO 8601 in UTC with milliseconds; null: a caller carries it out. */
  readonly scheduledAt: string | null;
  /** Time zone as the caller gave it, for people. */
  readonly timezone: string | null;
};

export type ReleaseDefined = {
  readonly type: 'release-defined';
  /** Replaces an earlier head with the same id. `single`: an action on an entry made it, with `at`. */
  readonly data: ReleaseHead & { readonly single: boolean };
};

export type ReleaseChanged = {
  readonly type: 'release-changed';
  /** `put`: actions that are added, or replace those with the same id. `removed`: ids of actions. */
  readonly data: {
    readonly id: number;
    readonly put: readonly ReleaseAction[];
    readonly removed: readonly number[];
  };
};

export type ReleaseRemoved = { readonly type: 'release-removed'; readonly data: { readonly id: number } };

export type ReleaseDone = {
  readonly type: 'release-done';
  readonly data: ReleaseHead & {
    /** Milliseconds after `scheduledAt`; null: a caller carried it out. */
    readonly lateMs: number | null;
    readonly published: number;
    readonly unpublished: number;
  };
};

/** Why an entry of a release cannot be published or unpublished. */
export type ReleaseProblem = Pick<ReleaseAction, 'contentType' | 'entryDocumentId' | 'locale'> & {
  readonly reason: string;
};

export type ReleaseFailed = {
  readonly type: 'release-failed';
  /** Nothing of the release was published. */
  readonly data: ReleaseHead & { readonly problems: readonly ReleaseProblem[] };
};

export type ReleaseEvent = ReleaseDefined | ReleaseChanged | ReleaseRemoved | ReleaseDone | ReleaseFailed;

const RELEASE_EVENTS: ReadonlySet<string> = new Set<ReleaseEvent['type']>([
  'release-defined',
  'release-changed',
  'release-removed',
  'release-done',
  'release-failed',
]);

/** Returns whether an event is about a release. No row depends on such events. */
export function isReleaseEvent({ type }: { readonly type: string }): boolean {
  return RELEASE_EVENTS.has(type);
}

/** Returns `<space>.releases`, the name of the stream of releases. */
export function releaseStream(space: string): string {
  return `${space}.releases`;
}
