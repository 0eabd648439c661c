import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { compareGraphs } from '../../../projections/generations/compare-graphs.ts';
import type { Difference as ItemDifference } from '../../../projections/generations/digest.ts';
import { lookAtGraphContents, readGraphContents } from '../../../projections/generations/graph-contents.ts';
import { lookAtContentGraph } from '../../../projections/graph/content-graph.ts';
import type { IndexDifference, VerificationLine } from '../../../projections/verification/difference.ts';
import { replayGraph } from '../../../projections/verification/replay-graph.ts';
import type { StoredEvent } from '../../../shared/event-store/event-store.ts';
import { isForeign } from '../../../shared/event-store/unreadable.ts';
import { validateEvent } from '../../../shared/events/validate-event.ts';
import { withScratchDirectory } from '../../operator/scratch-directory.ts';
import { type ImportProgress, showProgress } from '../output/import-progress.ts';
import { lookAtLogOf } from '../settings/access-log.ts';
import type { JsonOption } from '../settings/command.ts';
import type { OperatorSettings } from '../settings/settings.ts';
import { liveGraphFile } from './live-graph-file.ts';
import { lookAt, requireDataDirectory, withOperations } from './operate.ts';
import { refuseOtherLog } from './refuse-other-log.ts';
import { type AssetDifference, verifyAssets } from './verify-assets.ts';
import { type LogDifference, parseHead, presentLogDifference, verifyLog } from './verify-log.ts';

export type VerifyOptions = JsonOption & {
  readonly repair?: true;
  /** Recorded head of the log: see parseHead. */
  readonly head?: string;
  /** Location of uploaded files to check too; true for the default location of a server. */
  readonly assets?: string | true;
};

type Difference =
  | LogDifference
  | ({ readonly kind: 'read index' } & IndexDifference)
  | IndexFaultDifference
  | GraphDifference
  | EventDifference
  | AssetDifference;

/** An index that was not compared, with the reason. */
type IndexFaultDifference = {
  readonly kind: 'index';
  readonly type: string;
  readonly differing: readonly [string];
};

/** An event that does not fit the schema of its type (docs/events.md). */
type EventDifference = {
  readonly kind: 'event';
  readonly position: string;
  readonly stream: string;
  readonly differing: readonly [string];
};

/** Difference between graphs. It omits the contents, which may be private. */
type GraphDifference = Pick<ItemDifference, 'group' | 'name'> & {
  readonly kind: 'content graph';
  readonly differing: readonly ['missing' | 'unexpected' | 'content'];
};

const SHOWN_DIFFERENCES = 1_000;

type Report = {
  differences: number;
  left: number;
  /** The bar that is shown now, which must not overwrite a line. */
  progress: ImportProgress | undefined;
  readonly show: (difference: Difference) => void;
};

/**
 * `varve verify` checks every event of the log against its digest, the hash chain and the schema of its type, and every erasure
 * against its proof. It
 * compares the read index with the graph, in the process that has the data directory. It also compares a snapshot of
 * the graph with a replay of the log into a neighbouring file, in this process. Serving continues. Throws if something
 * differs and is not repaired.
 */
export async function verify(settings: OperatorSettings, options: VerifyOptions): Promise<void> {
  const report: Report = {
    differences: 0,
    left: 0,
    progress: undefined,
    show(difference) {
      const line = options.json ? JSON.stringify(difference) : present(difference);
      if (report.progress === undefined) console.log(line);
      else report.progress.print(line);
    },
  };
  const head = parseHead(options.head);
  requireDataDirectory(settings);
  await lookAtLogOf(settings, (log) =>
    verifyLog({ log, space: settings.space }, head, (damage) => note(report, damage, false)),
  );
  // A damaged log cannot be replayed into a graph.
  if (report.left > 0) throw new Error(`${countOf(report.left)} in the log: restore a backup of it`);
  const rows = await verifyIndex(options, settings, report);
  const { events, graph } = await verifyGraph(settings, report);
  const before = report.left;
  const files = await verifyFiles(options, settings, report);
  const lost = report.left - before;
  const { differences, left } = report;
  if (options.json)
    console.log(JSON.stringify({ kind: 'summary', rows, events, ...files, differences, left }));
  else
    console.log(`compared the read index (${rows} rows) with the graph, and the graph with ${events} events`);
  if (left > 0) throw new Error(`${countOf(left)}${adviceFor(graph, options, lost)}`);
  if (!options.json) console.log(differences === 0 ? 'no differences' : `${countOf(differences)}, repaired`);
}

async function verifyIndex(
  options: VerifyOptions,
  settings: OperatorSettings,
  report: Report,
): Promise<number> {
  const repair = options.repair === true;
  let rows = 0;
  let shown = 0;
  const compare = async (lines: AsyncIterable<VerificationLine>) => {
    for await (const line of lines) {
      if (line.kind === 'difference') {
        const { kind: _, ...difference } = line;
        note(report, { kind: 'read index', ...difference }, difference.repaired);
      } else if (line.kind === 'fault') {
        note(report, { kind: 'index', type: line.type, differing: [line.reason] }, false);
      } else if (line.kind === 'progress') {
        report.progress ??= showProgress(line.rows, 'comparing the read index');
        report.progress.advance(line.checked - shown);
        shown = line.checked;
        rows = Math.round(line.rows / 2);
      } else {
        report.left += line.documents;
        console.error(`${line.documents} documents could not be compared: they are still being written`);
      }
    }
  };
  try {
    await (repair
      ? withOperations(settings, (operations) => compare(operations.run('repair-index', {})))
      : lookAt(settings, (looks) => compare(looks.run('verify-index', {}))));
  } finally {
    endProgress(report);
  }
  return rows;
}

async function verifyFiles({ assets, json }: VerifyOptions, settings: OperatorSettings, report: Report) {
  if (assets === undefined) return {};
  const address = assets === true ? process.env['VARVE_ASSETS'] : assets;
  const files = await verifyAssets({ ...settings, assets: address }, (missing) =>
    note(report, missing, false),
  );
  if (!json) console.log(`checked the content of ${files} uploaded files`);
  return { files };
}

/** Verifies a snapshot of the graph, so that no request waits. */
async function verifyGraph(
  settings: OperatorSettings,
  report: Report,
): Promise<{ readonly events: number; readonly graph: number }> {
  const file = liveGraphFile(settings.data);
  if (!existsSync(file)) return { events: 0, graph: 0 };
  await requireOwnLog(settings, file);
  return withScratchDirectory(settings.data, (scratch) => compareWithReplay(settings, report, file, scratch));
}

/** A replay of another log, or of another namespace, would differ in everything. */
async function requireOwnLog(settings: OperatorSettings, file: string): Promise<void> {
  const graph = lookAtContentGraph(file);
  try {
    await lookAtLogOf(settings, (log) => refuseOtherLog(settings, log, graph));
  } finally {
    graph.close();
  }
}

async function compareWithReplay(settings: OperatorSettings, report: Report, file: string, scratch: string) {
  const found = lookAtGraphContents(file);
  try {
    const upTo = found.position;
    const progress = showProgress(Number(upTo), 'replaying the log');
    report.progress = progress;
    let events = 0;
    const onEvents = (count: number, batch: readonly StoredEvent[]) => {
      for (const difference of batch.flatMap(judgeEvent)) note(report, difference, false);
      events += count;
      progress.advance(count);
    };
    const replayed = join(scratch, 'graph.db');
    await lookAtLogOf(settings, (log) => replayGraph({ log, file: replayed, upTo, onEvents }));
    endProgress(report);
    const expected = readGraphContents(replayed);
    const compared = { before: expected, after: found, scope: {} };
    const meter = { worked: () => nextTurn() };
    const { differences, count } = await compareGraphs(compared, meter, SHOWN_DIFFERENCES);
    expected.close();
    for (const difference of differences) note(report, presentDifference(difference), false);
    const more = count - differences.length;
    if (more > 0) console.error(`${more} more differences of the content graph are not shown`);
    report.differences += more;
    report.left += more;
    return { events, graph: count };
  } finally {
    found.close();
  }
}

function endProgress(report: Report): void {
  report.progress?.end();
  report.progress = undefined;
}

function judgeEvent(event: StoredEvent): readonly EventDifference[] {
  const problem = isForeign(event) ? undefined : validateEvent(event);
  if (problem === undefined) return [];
  const { position, stream } = event;
  return [{ kind: 'event', position: String(position), stream, differing: [problem] }];
}

/** Presents a difference without the contents. `before` is the item of the replayed graph. */
function presentDifference({ group, name, before, after }: ItemDifference): GraphDifference {
  const differing = before === undefined ? 'unexpected' : after === undefined ? 'missing' : 'content';
  return { kind: 'content graph', group, name, differing: [differing] };
}

function note(report: Report, difference: Difference, repaired: boolean): void {
  report.differences++;
  if (!repaired) report.left++;
  report.show(difference);
}

function present(difference: Difference): string {
  if (difference.kind === 'log') return presentLogDifference(difference);
  const what = difference.differing.join(', ');
  if (difference.kind === 'index') return `index: ${difference.type}: ${what}`;
  if (difference.kind === 'event')
    return `event: position ${difference.position}, ${difference.stream}: ${what}`;
  if (difference.kind === 'uploaded file')
    return `uploaded file: ${difference.documentId}, ${difference.hash}: ${what}`;
  if (difference.kind === 'content graph') {
    return `content graph: ${difference.group}, ${difference.name}: ${what}`;
  }
  const { type, world, documentId, locale, repaired } = difference;
  const row = [type, documentId, ...(locale === null ? [] : [locale]), world].join(' ');
  return `read index: ${row}: ${what}${repaired ? ' (repaired)' : ''}`;
}

function countOf(count: number): string {
  return count === 1 ? '1 difference' : `${count} differences`;
}

function adviceFor(graph: number, { repair }: VerifyOptions, lost: number): string {
  if (lost > 0) return ': restore the missing uploaded files from a backup';
  if (graph > 0) return ': varve rebuild --graph replaces the content graph';
  return repair
    ? ' that could not be repaired: varve rebuild --type TYPE makes the index of a type again'
    : ': varve verify --repair rewrites the differing rows';
}
