import type { Rights } from '../../shared/access/rights.ts';
import { visibleRegistry } from '../../shared/access/visible-registry.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { rememberLast } from '../../shared/remembered.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { isBusy } from '../../shared/sqlite/failures.ts';
import { attributeTag, ROWS, type Tag } from '../delivery/tag.ts';
import { createTagNames, type TagNames } from '../delivery/tag-names.ts';
import { changesContent } from './missed-changes.ts';
import { openPurgeStore } from './purge-store.ts';
import type { PurgedTags } from './purge-target.ts';
import type { PurgeReport, SenderOptions } from './send-purges.ts';

export type NotesOptions = {
  /** Data directory of this process. */
  readonly data: string;
  readonly registry: SchemaRegistry;
  /** Key for the names of tags. */
  readonly key: Uint8Array;
  /** Rights of callers without a token. Receivers that name tags themselves get only names that these callers may see. */
  readonly rights: () => Rights;
  readonly log: Pick<EventStore, 'readAll'>;
  /** Position that the graph shows. */
  readonly position: () => bigint;
  readonly report: Pick<PurgeReport, 'error' | 'replaced'>;
};

/** Notes what changes while the projector applies the log. */
export type PurgeNotes = Pick<SenderOptions, 'store' | 'generation' | 'lost' | 'all'> & {
  /** Reads show these changes from now on. */
  readonly changed: (position: bigint, tags: Iterable<Tag>) => void;
  /** Purges all answers. */
  readonly everything: () => void;
  /** Calls `look` after each change from now on. */
  readonly notify: (look: () => void) => void;
  readonly close: () => void;
};

/** A process keeps this many changes for receivers that do not answer. */
const MOST_CHANGES = 100_000;
const PRUNE_EVERY = 1_000;
/** A locked file is not tried again for this long, because each attempt stops the thread that answers requests. */
const LOCKED_REST_MS = 1_000;

/**
 * Opens the file of changes. If the graph has changes that the file lacks, a process was killed in between: then all answers are purged.
 */
export async function openPurgeNotes(options: NotesOptions): Promise<PurgeNotes> {
  const { key, registry, position, report } = options;
  const names = createTagNames({ key, registry, plain: false });
  const plainNames = plainNamesOf(options);
  const store = openPurgeStore(options.data, report.replaced);
  const { generation } = names;
  let look = () => {};
  /** A change could not be stored. All answers are purged when the file can be written again. */
  let isLost = false;
  let lost = 0;
  let added = 0;
  let triesAt = 0;
  const plurals = pluralsOf(options);
  const all = (at = position()): PurgedTags => ({ position: at, names: [generation], plain: plurals });
  const write = (change: PurgedTags): void => {
    try {
      store.add(isLost ? all(change.position) : change);
      isLost = false;
      added += 1;
      if (added % PRUNE_EVERY === 0) store.prune(MOST_CHANGES);
    } catch (error) {
      isLost = true;
      lost += 1;
      if (isBusy(error)) triesAt = performance.now() + LOCKED_REST_MS;
      report.error(error);
    }
  };
  const add = (change: PurgedTags): void => {
    if (performance.now() < triesAt) lost += 1;
    else write(change);
    look();
  };
  const everything = () => add(all());
  const before = store.noted();
  let noted = position();
  if (before === undefined || (await changesContent(options.log, before, noted))) everything();
  return {
    store,
    generation,
    everything,
    lost: () => lost,
    all,
    notify(next) {
      look = next;
    },
    changed(at, tags) {
      noted = at;
      const changed = [...tags];
      if (changed.length === 0 && !isLost) return;
      const opaque = names.ofChange(changed);
      const plain = [...plainNames().ofChange(changed)].filter((name) => !opaque.has(name));
      add({ position: at, names: [...opaque], plain });
    },
    close() {
      try {
        if (!isLost) store.note(noted);
      } catch (error) {
        report.error(error);
      }
      store.close();
    },
  };
}

/** Plain names of all content types, because changed rights may have hidden some of them. */
function pluralsOf({ key, registry }: NotesOptions): readonly string[] {
  const tags = [...registry.contentTypes.keys()].map((uid) => attributeTag(uid, 'published', ROWS));
  const opaque = createTagNames({ key, registry, plain: false }).ofChange(tags);
  const all = createTagNames({ key, registry, plain: true }).ofChange(tags);
  return [...all].filter((name) => !opaque.has(name));
}

/** Names of what everyone sees, made again when the rights change. */
function plainNamesOf({ key, registry, rights }: NotesOptions): () => TagNames {
  const namesFor = rememberLast((now: Rights) =>
    createTagNames({ key, registry: visibleRegistry(registry, now), plain: true }),
  );
  return () => namesFor(rights());
}
