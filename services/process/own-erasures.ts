import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isEnded } from '../../projections/generations/generation.ts';
import { graphFile } from '../../projections/graph/store/generation-files.ts';
import { FILE_TYPE, type Uid } from '../../shared/schema/content-type.ts';
import { scrubFile } from '../../shared/sqlite/scrub-file.ts';
import { actAs } from '../command/current-author.ts';
import { eraseDocuments } from '../erasure/erase-documents.ts';
import { type ErasureLine, noteErasures } from '../erasure/erasure-file.ts';
import type { ErasureOrder } from '../erasure/erasure-ledger.ts';
import type { ServedErasures } from '../erasure/erasure-resources.ts';
import { type Erasures, openErasures } from '../erasure/open-erasures.ts';
import { removeLeftScratch } from '../operator/scratch-directory.ts';
import { forgetPasts } from '../past/past-files.ts';
import { logFile } from '../stores/open-event-store.ts';
import { WEBHOOKS_FILE } from '../webhooks/delivery-store.ts';
import type { Webhooks } from '../webhooks/open-webhooks.ts';
import type { Opened } from './opened.ts';
import type { OwnParts } from './own-operator.ts';
import type { VarveOptions } from './process-options.ts';

export type OwnErasures = {
  readonly served: ServedErasures;
  /** Calls back when documents are erased, before and after this process has cleaned its files. The listener ends what reads copies of them. */
  readonly whenErased: (listener: () => Promise<unknown>) => void;
};

/** Carries erasures out in the files of a process with a data directory, and accepts orders while it is the leader. */
export async function openOwnErasures(
  options: VarveOptions,
  parts: OwnParts,
  webhooks: Webhooks | undefined,
  opened: Opened,
): Promise<OwnErasures> {
  const { base, running } = parts;
  const { log, graph } = base.store;
  const { data, space } = options.data;
  const { fleet, projector } = running;
  const listeners = new Set<() => Promise<unknown>>();
  const { exists } = graph.reader;
  /** Position of the last erasure that pasts and deliveries do not show any more. */
  let forgotten = 0n;
  const endPasts = async () => {
    for (const listener of listeners) await listener();
    // A start may come here before anything listens.
    forgetPasts(data);
  };
  const erasures = opened(
    await openErasures({
      log,
      space,
      data,
      fleet,
      redacts: options.fleet.mayLead !== false,
      exists: (type, documentId) => exists(type, documentId),
      remove: (order) => removeDocument(parts, order),
      hold: running.holdDocument,
      applied: projector.applied,
      async clean(erased) {
        const last = erased.at(-1)?.position ?? 0n;
        // Answers and deliveries need not wait until the files can be cleaned. An attempt that is repeated ends no pasts.
        if (last > forgotten) {
          for (const { documentId } of erased) webhooks?.served.store.forgetDocument(documentId);
          await endPasts();
        }
        forgotten = last;
        await cleanFiles(options, parts);
        await endPasts();
      },
      failed: options.fleet.fleetLog.erasing,
    }),
  );
  return {
    served: servedBy(options, parts, erasures),
    whenErased: (listener) => void listeners.add(listener),
  };
}

function servedBy(
  options: VarveOptions,
  { base, content, running }: OwnParts,
  erasures: Erasures,
): ServedErasures {
  const { log, graph } = base.store;
  const own = {
    log,
    space: options.data.space,
    registry: content.registry,
    erasures,
    index: content.readSide.index,
    defaultLocale: options.content.defaultLocale,
    rules: options.strapi.rules,
    isLeading: () => running.fleet.lead() !== undefined,
    // The next comparison would copy the document again.
    isFollowed: (type: Uid, documentId: string) =>
      options.follow !== undefined && graph.reader.exists(type, documentId),
    leftovers: () => copiesOfLog(options),
    note: (lines: readonly ErasureLine[]) => noteErasures(options.data.data, lines),
  };
  return {
    ledger: erasures.ledger,
    isDone: erasures.isDone,
    erase: (request) => eraseDocuments(own, request),
  };
}

/** Deletes the rows of a document in all locales. Rejects with a message if its content type is not served. */
async function removeDocument(
  { base, content, running }: OwnParts,
  { id: correlationId, type, documentId }: ErasureOrder,
): Promise<void> {
  const definition = content.registry.contentTypes.get(type);
  if (definition === undefined)
    throw new Error(`an erasure waits until the content type ${type} is served again`);
  if (!base.store.graph.reader.exists(type, documentId)) return;
  const locale = definition.localized ? { locale: '*' } : {};
  const remove = () =>
    type === FILE_TYPE
      ? running.library.remove(documentId)
      : running.commands.execute({ kind: 'delete', type, documentId, ...locale });
  await actAs({ actor: { kind: 'process', id: 'erasures' }, correlationId, via: 'erase' }, remove);
}

/** Removes erased documents from the files of the data directory. Rejects with a message if that is not possible now. */
async function cleanFiles(
  { data: { data }, fleet: { generation } }: VarveOptions,
  { base, running }: OwnParts,
): Promise<void> {
  const { graph, generations } = base.store;
  const rebuild = generations.store.rebuild();
  if (rebuild !== undefined && !isEnded(rebuild.phase))
    throw new Error('an erasure waits for the end of a rebuild, whose files have what is erased');
  graph.forgetSnapshot();
  // A killed command may have left a graph there.
  removeLeftScratch(data);
  await generations.drop();
  await scrubFile(join(data, WEBHOOKS_FILE));
  const file = graphFile(data, generation ?? generations.store.live().number);
  // Nothing may write to the file meanwhile: it would wait for longer than SQLite lets it.
  await running.projector.hold(async () => {
    await whenWritten(graph);
    await scrubFile(file);
  });
}

/** Looks whether the writer of documents, which writes to the graph, has finished: their number, and milliseconds between two of them. */
const LOOKS = 50;
const LOOK_EVERY_MS = 100;

/** Waits until no document is stale. Rejects with a message if that takes too long. */
async function whenWritten({ stale }: OwnParts['base']['store']['graph']): Promise<void> {
  for (let look = 0; (stale?.count().rows ?? 0) > 0; look++) {
    if (look === LOOKS) throw new Error('an erasure waits until Elasticsearch has all documents');
    await delay(LOOK_EVERY_MS);
  }
}

/** Returns the copies of the log that an upgrade has made. */
function copiesOfLog({ data }: VarveOptions): readonly string[] {
  const file = logFile(data);
  return file === undefined ? [] : [`${file}.before-upgrade`].filter((copy) => existsSync(copy));
}
