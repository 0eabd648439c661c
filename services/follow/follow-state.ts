import type { Uid } from '../../shared/schema/content-type.ts';

/** State of a follower, for `varve status` and the metrics. */
export type FollowStatus = {
  readonly url: string;
  /** Role of the process. With `standby` another process is the leader and follows Strapi. */
  readonly role: 'leading' | 'standby';
  /** True if one comparison of everything has ended since the process began to follow. */
  readonly isComplete: boolean;
  /** Seconds since the stored content was last known to equal Strapi's; null if it never was. */
  readonly ageSeconds: number | null;
  /** Last comparison of all ids; null before the first. */
  readonly comparison: { readonly at: string; readonly seconds: number } | null;
  readonly requests: number;
  readonly events: number;
  readonly webhooks: number;
  /** Documents that wait to be read. */
  readonly pending: number;
  /** Documents that still differ from Strapi after they were written. */
  readonly stuck: readonly string[];
  /** Number of rows that Strapi no longer has, but which are kept: they are too many to delete at once. */
  readonly kept: number;
  /** Reason why Strapi cannot be reached now; null while it answers. */
  readonly trouble: string | null;
  /** Reasons why Strapi refuses requests, by content type. */
  readonly refused: { readonly [type: Uid]: string };
};

export type FollowState = ReturnType<typeof createFollowState>;

/** Creates the state of a follower for `varve status` and the metrics. It calls `counts` for each status. */
export function createFollowState(counts: {
  readonly pending: () => number;
  readonly stuck: () => readonly string[];
  readonly requests: () => number;
}) {
  const refused = new Map<Uid, string>();
  let role: FollowStatus['role'] = 'standby';
  let comparison: FollowStatus['comparison'] = null;
  let trouble: string | null = null;
  let seenAt: number | undefined;
  let kept = 0;
  let events = 0;
  let webhooks = 0;
  return {
    role(now: FollowStatus['role']) {
      role = now;
    },
    wrote(count: number) {
      events += count;
    },
    heard() {
      webhooks++;
    },
    looked(at: number) {
      if (kept === 0) seenAt = at;
    },
    /** Sets the number of kept rows. Returns true if it is new. */
    keep(rows: number): boolean {
      const isNew = rows > 0 && kept === 0;
      kept = rows;
      return isNew;
    },
    compared(at: number, seconds: number) {
      comparison = { at: new Date(at).toISOString(), seconds: Math.round(seconds * 10) / 10 };
      if (kept === 0) seenAt = Math.max(seenAt ?? 0, at);
    },
    answered() {
      trouble = null;
    },
    failed(message: string) {
      trouble = message;
    },
    accept: (type: Uid) => void refused.delete(type),
    /** Records that Strapi refuses a type. Returns true if that is new. */
    refuse(type: Uid, message: string): boolean {
      const isNew = refused.get(type) !== message;
      refused.set(type, message);
      return isNew;
    },
    status: (): Omit<FollowStatus, 'url'> => ({
      role,
      comparison,
      events,
      webhooks,
      kept,
      trouble,
      isComplete: comparison !== null,
      ageSeconds: seenAt === undefined ? null : Math.round((Date.now() - seenAt) / 100) / 10,
      requests: counts.requests(),
      pending: counts.pending(),
      stuck: counts.stuck(),
      refused: Object.fromEntries(refused),
    }),
  };
}
