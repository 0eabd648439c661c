import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { documentChanges, type ShapeChange, shapeChanges } from '../../projections/generations/shape.ts';
import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import { catchUpUnlessDiskFull } from '../../projections/graph/projector.ts';
import { checkHistory } from '../../projections/graph/store/check-history.ts';
import { convertedFile } from '../../projections/graph/store/generation-files.ts';
import { defined } from '../../shared/defined.ts';
import {
  type EventStore,
  LogRestored,
  type StoredEvent,
  type Trouble,
} from '../../shared/event-store/event-store.ts';
import { isAboutContent } from '../../shared/events/about-content.ts';
import { upcast } from '../../shared/events/upcasters.ts';
import { createEffectiveEvents } from '../../shared/fleet/effective-events.ts';
import { freeReservedDisk, reserveDisk } from '../../shared/free-disk.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { TypeDefinition } from '../../shared/schema/type-definitions.ts';
import { isDiskFullAtOpen } from '../../shared/sqlite/failures.ts';
import { lockDataDirectory } from '../../shared/sqlite/lock-data-directory.ts';
import type { FileLock } from '../../shared/sqlite/lock-file.ts';
import { storedChanges } from '../content-types/deferred-change.ts';
import { finishSwitch } from '../read-side/finish-switch.ts';
import { openServedGenerations } from '../read-side/open-generations.ts';
import { NO_DIRECTORY, type OutsideIndices } from '../read-side/outside-indices.ts';
import type { ReadSidePlan } from '../read-side/read-side.ts';
import { type ReportReplaced, replaceUnusable } from '../read-side/replace-unusable.ts';
import type { ServedGenerations, ServedGenerationsOptions } from '../read-side/served-generations.ts';
import { isSameLog, readLogOfDirectory, recordLogOfDirectory } from '../stores/log-of-directory.ts';
import { logAddress, logFolder, openEventStore } from '../stores/open-event-store.ts';
import { type Opened, openParts } from './opened.ts';

export type ContentStoreOptions = {
  readonly data: DataOptions;
  readonly content: {
    readonly registry: SchemaRegistry;
    readonly definitions: readonly TypeDefinition[];
    /** Maximum number of rows that are converted before the server answers; with more, another process converts them. Default: any number. */
    readonly convertAtOnce?: number;
  };
  readonly fleet?: SuccessionOptions;
};

type DataOptions = {
  /** The data directory. It is created if it does not exist. */
  readonly data: string;
  /** Address of the log; absent: a file in the data directory. */
  readonly eventStore?: string | undefined;
  readonly space: string;
  /** Locks the data directory. Default: this process has the lock. */
  readonly takeDirectory?: (directory: string) => FileLock | Promise<FileLock>;
  readonly reportReplaced: ReportReplaced;
  /** Called with messages about the log's server at start. */
  readonly reportCheck?: (finding: string) => void;
  /** Called for calls to the log's server that are retried. Default: writes them to standard error. */
  readonly reportTrouble?: (trouble: Trouble) => void;
};

type SuccessionOptions = {
  /** The generation that is opened. Default: the live one. */
  readonly generation?: number | undefined;
  readonly handOver?: ServedGenerationsOptions['handOver'];
  readonly abandon?: ServedGenerationsOptions['abandon'];
};

/** A log and its graph in a data directory, locked by this process until `close`. */
export type ContentStore = {
  readonly registry: SchemaRegistry;
  readonly log: EventStore;
  /** Graph of the live generation. It had caught up with the log when the store was opened. */
  readonly graph: ContentGraph;
  readonly generations: ServedGenerations;
  /** File of a converted graph, from which the documents of this generation were made. The file need not exist. */
  readonly converted: string | undefined;
  /** Changes that another process will convert in a copy of the graph, while this one serves the content types in force. */
  readonly deferred: readonly ShapeChange[];
  /** True if no document was ever written. */
  readonly isNew: boolean;
  /** True if the graph had applied a history that this log has lost, because an older copy of it was restored. */
  readonly isRestored: boolean;
  close(): Promise<void>;
};

/**
 * Locks the data directory, opens the log, which other processes may have open too, and applies it to the graph. Throws DataDirectoryInUse
 * if another process has the lock.
 */
export async function openContentStore(
  options: ContentStoreOptions,
  plan?: ReadSidePlan,
): Promise<ContentStore> {
  try {
    return await openLocked(options, plan);
  } catch (error) {
    const isFull = isDiskFullAtOpen(error, options.data.data);
    if (!isFull || !writtenFolders(options.data).map(freeReservedDisk).includes(true)) throw error;
    return await openLocked(options, plan);
  }
}

/** Folders that the process of a data directory writes to. */
export function writtenFolders(
  options: Pick<DataOptions, 'data' | 'eventStore' | 'space'>,
): readonly string[] {
  return [...new Set([options.data, logFolder(options) ?? options.data])];
}

function openLocked(options: ContentStoreOptions, plan: ReadSidePlan | undefined): Promise<ContentStore> {
  return openParts(async (opened) => {
    const { data, space, takeDirectory, reportTrouble, reportCheck } = options.data;
    const lock = await (takeDirectory?.(data) ?? lockDataDirectory(data));
    opened({ close: lock.release });
    const log = opened(
      await openEventStore(logAddress(options.data), {
        space,
        decode: upcast,
        threaded: true,
        ...defined({ onTrouble: reportTrouble }),
      }),
    );
    for (const finding of (await log.check?.()) ?? []) reportCheck?.(finding);
    return openWith(options, plan, log, opened);
  });
}

async function openWith(
  options: ContentStoreOptions,
  plan: ReadSidePlan | undefined,
  log: EventStore,
  opened: Opened,
): Promise<Omit<ContentStore, 'close'>> {
  const { data, space } = options.data;
  const { generation, handOver, abandon } = options.fleet ?? {};
  // If another process serves another generation, that process has checked the files, and it writes to one of them.
  const isRestored = generation === undefined && (await replaceFiles(options.data, plan, log));
  const generations = opened(openServedGenerations({ data, log, plan, generation, handOver, abandon }));
  const { graph } = generations;
  if (generation !== undefined) await refuseOtherHistory(log, graph);
  // A graph with rows has seen a document. So a start does not search a shared log from its beginning each time.
  const isNew = graph.size().rows === 0 && !(await hasDocuments(log, space));
  for (const folder of writtenFolders(options.data)) reserveDisk(folder);
  // Earlier releases stored the words of texts there.
  await rm(join(data, 'words'), { recursive: true, force: true }).catch(() => {});
  recordLogOfDirectory(data, options.data);
  await catchUpUnlessDiskFull(log, graph);
  return {
    registry: options.content.registry,
    log,
    graph,
    generations,
    converted: generation === undefined ? undefined : convertedFile(data, generation),
    deferred: await deferredChanges(options, plan, { log, graph }),
    isNew,
    isRestored,
  };
}

/** Replaces files that cannot be used. Returns whether an older copy of this log was restored. */
async function replaceFiles(
  options: DataOptions,
  plan: ReadSidePlan | undefined,
  log: EventStore,
): Promise<boolean> {
  const { data, reportReplaced: report } = options;
  const history = await replaceUnusable({ data, log, report });
  await finishSwitch(data, plan);
  const known = readLogOfDirectory(data);
  return history === 'restored' && known !== undefined && isSameLog(data, known, options);
}

/** Throws LogRestored if a graph that another process has made is not from this log: that process makes it again. */
async function refuseOtherHistory(log: EventStore, graph: ContentGraph): Promise<void> {
  const applied = { position: graph.position(), last: graph.lastEvent(), samples: [] };
  const { kind } = await checkHistory(log, applied);
  if (kind !== 'same')
    throw new LogRestored(`the graph has another history than the log up to position ${applied.position}`);
}

/**
 * Returns the changes of content types that another process will make, because their conversion takes long. This process serves the types in
 * force meanwhile, if its index can. Empty: this process converts its rows before it serves.
 */
async function deferredChanges(
  { content: { convertAtOnce = Number.POSITIVE_INFINITY, definitions }, fleet = {} }: ContentStoreOptions,
  plan: ReadSidePlan | undefined,
  { log, graph }: Pick<ContentStore, 'log' | 'graph'>,
): Promise<readonly ShapeChange[]> {
  if (plan === undefined || fleet.handOver === undefined || graph.size().rows <= convertAtOnce) return [];
  // Another process serves while the next generation is opened.
  if (fleet.generation !== undefined) return [];
  const { outside } = plan;
  const changes = storedChanges(graph, definitions, outside === undefined ? shapeChanges : documentChanges);
  if (changes.length === 0 || outside === undefined) return changes;
  return (await isLiveSetWhole(outside, graph, log)) ? changes : [];
}

/** Returns whether the live indices are complete and have the content types of the graph. */
async function isLiveSetWhole(
  outside: OutsideIndices,
  graph: ContentGraph,
  log: EventStore,
): Promise<boolean> {
  const sets = await outside.open(graph.registry(), log, NO_DIRECTORY);
  try {
    return await sets.fits(await sets.live());
  } finally {
    await sets.close();
  }
}

async function hasDocuments(log: EventStore, space: string): Promise<boolean> {
  const { after } = createEffectiveEvents(log, space);
  for await (const event of after(0n)) if (!isFromStart(event)) return true;
  return false;
}

/** Returns whether an event may come before the first document of a log. */
function isFromStart(event: StoredEvent): boolean {
  return event.type === 'content-type-defined' || !isAboutContent(event);
}
