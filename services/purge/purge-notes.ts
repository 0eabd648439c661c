import type { Rights } from '../../shared/access/rights.ts';
import { visibleRegistry } from '../../shared/access/visible-registry.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { rememberLast } from '../../shared/remembered.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { attributeTag, ROWS, type Tag } from '../delivery/tag.ts';
import { createTagNames, type TagNames } from '../delivery/tag-names.ts';
import { changesContent } from './missed-changes.ts';
import { openPurgeStore } from './purge-store.ts';
import type { PurgedTags } from './purge-target.ts';
import type { PurgeReport, SenderOptions } from './send-purges.ts';
import { createChangeWriter } from './write-changes.ts';

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
  /** Returns whether the file has all changes, so that a restart loses none. */
  readonly isWhole: () => boolean;
  /** Calls `look` after each change from now on. */
  readonly notify: (look: () => void) => void;
  readonly close: () => void;
};

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
  const plurals = pluralsOf(options);
  const all = (at = position()): PurgedTags => ({ position: at, names: [generation], plain: plurals });
  const { add, lost, isWhole, close } = createChangeWriter({
    store,
    all,
    moved: () => look(),
    failed: report.error,
  });
  const everything = () => add(all());
  const before = store.noted();
  let noted = position();
  if (before === undefined || (await changesContent(options.log, before, noted))) everything();
  return {
    store,
    generation,
    everything,
    isWhole,
    lost,
    all,
    notify(next) {
      look = next;
    },
    changed(at, tags) {
      noted = at;
      const changed = [...tags];
      if (changed.length === 0) return;
      const opaque = names.ofChange(changed);
      const plain = [...plainNames().ofChange(changed)].filter((name) => !opaque.has(name));
      add({ position: at, names: [...opaque], plain });
    },
    close() {
      close();
      try {
        if (isWhole()) store.note(noted);
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
