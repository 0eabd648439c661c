import type { Uid } from '../../shared/schema/content-type.ts';

/** State of a follower, for `varve status` and the metrics. */
export type FollowStatus = {
  readonly url: string;
  /** `standby`: another process is the leader, and follows. */
  readonly role: 'leading' | 'standby';
  /** Everything was compared once since the process began to follow. */
  readonly isComplete: boolean;
  /** Seconds since what is stored was last seen to be what Strapi has; null: not yet. */
  readonly ageSeconds: number | null;
  /** The last comparison of all ids; null: not yet. */
  readonly comparison: { readonly at: string; readonly seconds: number } | null;
  readonly requests: number;
  readonly events: number;
  readonly webhooks: number;
  /** Documents that wait to be read. */
  readonly pending: number;
  /** Documents that could not be stored as Strapi has them. */
  readonly stuck: readonly string[];
  /** Rows that Strapi no longer has, kept because they are too many to be deleted at once. */
  readonly kept: number;
  /** Why Strapi cannot be asked for now; null: it answers. */
  readonly trouble: string | null;
  /** Types that Strapi refuses to answer, and why. */
  readonly refused: { readonly [type: Uid]: string };
};

export type FollowState = ReturnType<typeof createFollowState>;

/** Creates what `varve status` and the metrics show of a follower. `counts` are asked when they are shown. */
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
    /** True when that is new. */
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
    /** True when that is new. */
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
