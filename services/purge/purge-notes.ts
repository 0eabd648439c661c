import type { Rights } from '../../shared/access/rights.ts';
import { visibleRegistry } from '../../shared/access/visible-registry.ts';
import type { EffectiveEvents } from '../../shared/fleet/effective-events.ts';
import { rememberLast } from '../../shared/remembered.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { attributeTag, ROWS, type Tag } from '../delivery/tag.ts';
import { createTagNames, type TagNames } from '../delivery/tag-names.ts';
import { changesContent } from './missed-changes.ts';
import { openPurgeStore } from './purge-store.ts';
import type { PurgedTags } from './purge-target.ts';
import type { PurgeReport } from './send-purges.ts';
import { createChangeWriter } from './write-changes.ts';

export type NotesOptions = {
  /** Data directory of this process. */
  readonly data: string;
  readonly registry: SchemaRegistry;
  /** Key for the names of tags. */
  readonly key: Uint8Array;
  /** Rights of callers without a token. Receivers that name tags themselves get only names that these callers may see. */
  readonly rights: () => Rights;
  readonly events: Pick<EffectiveEvents, 'after'>;
  /** Position that the graph shows. */
  readonly position: () => bigint;
  readonly report: Pick<PurgeReport, 'error' | 'replaced'>;
};

/** Notes what changes while the projector applies the log. */
export type PurgeNotes = Awaited<ReturnType<typeof openPurgeNotes>>;

/** A term of the leader. `isLeading`: this process is still the leader. `moved`: called after changes were stored or lost. */
export type NotingTerm = { readonly isLeading: () => boolean; readonly moved: () => void };

/**
 * Opens the file of changes. Several processes may have it open, and only the leader writes it. If the graph has changes that the file lacks,
 * a process was killed in between: then all answers are purged in the next term.
 */
export async function openPurgeNotes(options: NotesOptions) {
  const { key, registry, position, report } = options;
  const names = createTagNames({ key, registry, plain: false });
  const plainNames = plainNamesOf(options);
  const store = openPurgeStore(options.data, report.replaced);
  const { generation } = names;
  const plurals = pluralsOf(options);
  const all = (at = position()): PurgedTags => ({ position: at, names: [generation], plain: plurals });
  let term: NotingTerm = { isLeading: () => false, moved() {} };
  const writer = createChangeWriter({
    store,
    all,
    isLeading: () => term.isLeading(),
    moved: () => term.moved(),
    failed: report.error,
  });
  const { isWhole, lost } = writer;
  const before = store.noted();
  let seen = position();
  let isMissing = before === undefined || (await changesContent(options.events, before, seen));
  let isKept = false;
  return {
    store,
    generation,
    /** Purges all answers. */
    everything: () => writer.add(all()),
    isWhole,
    lost,
    all,
    /** Writes changes to the file while this process is the leader. Purges all answers if it does not know all earlier purges. */
    lead({ isKnown, ...next }: NotingTerm & { readonly isKnown: boolean }): void {
      term = next;
      if (isKnown && !isMissing) writer.write();
      else writer.add(all());
      [isMissing, isKept] = [false, false];
    },
    /** Reads show these changes from now on. */
    changed(at: bigint, tags: Iterable<Tag>): void {
      const changed = [...tags];
      // The file notes the position of each stored change.
      [seen, isKept] = [at, changed.length > 0];
      if (changed.length === 0) return;
      if (!term.isLeading()) {
        isMissing = true;
        return;
      }
      const opaque = names.ofChange(changed);
      const plain = [...plainNames().ofChange(changed)].filter((name) => !opaque.has(name));
      writer.add({ position: at, names: [...opaque], plain });
    },
    /** Notes the position up to which the file has all changes. Throws if the file cannot be written. */
    keep(): void {
      if (isKept || !isWhole()) return;
      store.note(seen);
      isKept = true;
    },
    close(): void {
      writer.close();
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
