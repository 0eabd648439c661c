import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { Entry } from '../../shared/document/entry.ts';
import type { DocumentName, RecordedRows, RowStamp } from '../../shared/document/recorded-rows.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import { contentTypeOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { type NewestBy, type Source, SourceRefused } from './source.ts';

export type ReconcileOptions = {
  readonly registry: SchemaRegistry;
  readonly types: readonly Uid[];
  readonly source: Source;
  readonly entries: (type: Uid, documentId: string) => readonly Entry[];
  readonly recorded: RecordedRows;
  /** Makes the documents equal to the source's. Resolves when they are. */
  readonly sync: (names: readonly DocumentName[]) => Promise<void>;
  /** Reports a type that is skipped because the source refuses it; undefined if the source accepts it again. */
  readonly refused: (type: Uid, error: SourceRefused | undefined) => void;
  /** Share of the stored rows, from 0 to 1, that one pass may delete. */
  readonly mostGone: number;
  /** Reports how many missing rows a pass kept because they exceed that share; 0 if it kept none. */
  readonly kept: (rows: number) => void;
};

type Version = RowStamp['version'];

/** Waits until the rate allows the next request. */
export type RequestPace = () => Promise<void>;

export type Reconciliation = ReturnType<typeof createReconciliation>;

/**
 * Finds differences from the source without hints. A row has changed if its id, `updatedAt` or `publishedAt` has. The newest `updatedAt`
 * alone is not enough: a discarded draft gets an older time, but its row has a new id.
 */
export function createReconciliation(options: ReconcileOptions) {
  const { registry, types, source, sync } = options;
  const eachVersion = async (work: (type: Uid, version: Version) => Promise<void>): Promise<void> => {
    for (const type of types) {
      try {
        for (const version of versionsOf(registry, type)) await work(type, version);
        options.refused(type, undefined);
      } catch (error) {
        if (!(error instanceof SourceRefused)) throw error;
        options.refused(type, error);
      }
    }
  };
  const isKnown = (stamp: RowStamp): boolean =>
    options.entries(stamp.type, stamp.documentId).some((entry) => isSame(stamp, entry));
  const newestOf = async (type: Uid, version: Version, order: NewestBy): Promise<number | undefined> => {
    for (let page = 1; ; page++) {
      const { stamps, total } = await source.newest(type, version, order, page);
      const changed = stamps.filter((stamp) => !isKnown(stamp));
      await sync(changed);
      if (changed.length === 0) return total;
    }
  };
  /** Copies the source's new and changed rows. Resolves with the stored rows that the source does not have. */
  const compare = async (type: Uid, version: Version, pace: RequestPace): Promise<readonly RowStamp[]> => {
    const stored = new Map<number, RowStamp>();
    for (const batch of options.recorded.stamps(type)) {
      for (const stamp of batch) if (stamp.version === version) stored.set(stamp.id, stamp);
      await nextTurn();
    }
    for (let after = 0; ; ) {
      await pace();
      const stamps = await source.stampsAfter(type, version, after);
      if (stamps.length === 0) return [...stored.values()];
      const changed = stamps.filter((stamp) => {
        const before = stored.get(stamp.id);
        stored.delete(stamp.id);
        return before === undefined || !isSame(stamp, before);
      });
      await sync(changed);
      after = Math.max(after, ...stamps.map(({ id }) => id));
    }
  };
  let hasKept = false;
  const countStored = (): number =>
    types
      .flatMap((type) => versionsOf(registry, type).map((version) => options.recorded.count(type, version)))
      .reduce((sum, count) => sum + count, 0);
  /** Deletes rows at the end of a pass, when their number is known: a source that lost its content deletes nothing here. */
  const remove = async (gone: readonly RowStamp[]): Promise<void> => {
    const left = gone.filter(isKnown);
    hasKept = isMassDeletion(left.length, countStored(), options.mostGone);
    options.kept(hasKept ? left.length : 0);
    if (!hasKept) await sync(left);
  };
  return {
    /** Copies new and changed rows. Finds deletions if the numbers of rows differ. */
    async newest(): Promise<void> {
      const gone: RowStamp[] = [];
      await eachVersion(async (type, version) => {
        await newestOf(type, version, 'id');
        const total = await newestOf(type, version, 'updatedAt');
        if (total === undefined || total === options.recorded.count(type, version)) return;
        // Kept rows make the numbers differ each time: the comparison of all ids handles them.
        if (!hasKept) gone.push(...(await compare(type, version, async () => {})));
      });
      if (!hasKept) await remove(gone);
    },
    /** Compares all rows by their ids and times. */
    async everything(pace: RequestPace): Promise<void> {
      const gone: RowStamp[] = [];
      await eachVersion(async (type, version) => {
        gone.push(...(await compare(type, version, pace)));
      });
      await remove(gone);
    },
  };
}

function versionsOf(registry: SchemaRegistry, type: Uid): readonly Version[] {
  return contentTypeOf(registry, type).draftAndPublish ? ['draft', 'published'] : ['live'];
}

const COMPARED = ['id', 'documentId', 'version', 'locale', 'updatedAt', 'publishedAt'] as const;
type Stamped = Pick<RowStamp, (typeof COMPARED)[number]>;

function isSame(a: Stamped, b: Stamped): boolean {
  return COMPARED.every((name) => a[name] === b[name]);
}

/** Number of rows up to which deletions are allowed whatever their share is. */
const FEW = 10;

/** Returns whether so many stored rows are missing at once that the source probably lost them: no editor deletes so many. */
export function isMassDeletion(gone: number, stored: number, share: number): boolean {
  return gone > FEW && gone > stored * share;
}

/**
 * Spaces requests evenly, at most `rate` per second. It uses the monotonic clock: otherwise, after the machine's clock is set back, the
 * next request would wait until the old time returns.
 */
export function createRequestPace(rate: number, signal: AbortSignal): RequestPace {
  let next = performance.now();
  return async () => {
    const now = performance.now();
    next = Math.max(now, next + 1000 / rate);
    await sleep(next - now, signal);
  };
}

/** Resolves after `ms`, or as soon as `signal` is aborted. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {});
}
