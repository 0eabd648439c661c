import { resolve } from 'node:path';
import type { Rebuild } from '../../../projections/generations/generation.ts';
import { warningLine } from '../../../shared/schema/schema-problem.ts';
import type { FollowStatus } from '../../follow/follow-state.ts';
import type { WorkerStatus } from '../../operator/operation.ts';
import type { ProjectionStatus, Status } from '../../operator/status.ts';
import type { ListedProcess } from '../../state/process-report.ts';
import type { IndexState } from '../../state/state.ts';
import { presentBytes, presentSeconds, presentSize } from '../output/present-amounts.ts';
import { columnsOfTerminal, textTable, wrapLines } from '../output/text-table.ts';
import type { JsonOption } from '../settings/command.ts';
import type { OperatorSettings } from '../settings/settings.ts';
import { lookAt } from './operate.ts';

/** `varve status`: the state of the log and its projections, as a table or as JSON. */
export async function showStatus(settings: OperatorSettings, { json }: JsonOption): Promise<void> {
  await lookAt(settings, async (looks) => {
    for await (const status of looks.run('status', {})) {
      console.log(json ? JSON.stringify(status, null, 2) : presentStatus(status, resolve(settings.data)));
    }
  });
}

function presentStatus(status: Status, data: string): string {
  const { server, workers, log, projections, unusable, schemaWarnings, codeNotes, follow } = status;
  const holder =
    server === null
      ? 'none'
      : `process ${server.pid}, for ${presentSeconds(server.uptimeSeconds)}, ${presentBytes(server.memoryBytes)} of memory`;
  return [
    ...wrapLines(status.summary.text, columnsOfTerminal()),
    '',
    `Data    ${data}`,
    `Server  ${holder}`,
    `Log     position ${log.position}`,
    ...(log.head === null ? [] : [`Head    ${log.head.position}:${log.head.chain}`]),
    ...presentUnreadable(log),
    ...(unusable === null ? [] : [`Graph   ${unusable}: the next start makes it usable`]),
    '',
    textTable([
      ['PROJECTION', 'KIND', 'GENERATION', 'POSITION', 'LAG', 'DOCUMENTS', 'SIZE', 'BACKLOG', 'PARKED'],
      ...projections.map(columnsOf),
    ]),
    ...presentFleet(status),
    ...(workers.length === 0
      ? []
      : ['', textTable([['WORKER', 'PROCESS', 'SHOWS'], ...workers.map(workerColumns)])]),
    ...(schemaWarnings.length === 0 ? [] : ['', 'Parts of schemas that are not served as they are:']),
    ...schemaWarnings.map((warning) => `  ${warningLine(warning)}`),
    ...(codeNotes.length === 0 ? [] : ['', 'Code of the project that Varve does not run:']),
    ...codeNotes.map((note) => `  ${note}`),
    ...presentFollow(follow),
  ].join('\n');
}

const HEADINGS = [
  ...['PROCESS', 'ROLE', 'LEADER', 'ADDRESS', 'VERSION', 'POSITION', 'LAG', 'MEMORY', 'READY'],
];

/** Returns the table of the processes of the log, and lines about what surrounds them. */
function presentFleet({
  processes,
  readIndex,
  webhooks,
  purges,
  rebuild,
  generations,
}: Status): readonly string[] {
  const kept = generations.filter(({ state }) => state === 'kept').map(({ number }) => number);
  return [
    ...(processes.length === 0 ? [] : ['', textTable([HEADINGS, ...processes.map(processColumns)])]),
    ...processes.flatMap((each) =>
      each.reason === null ? [] : [`  ${each.host}:${each.pid} ${each.reason}`],
    ),
    '',
    ...(readIndex === null ? [] : [`Elasticsearch  ${presentIndex(readIndex)}`]),
    ...(rebuild === null || rebuild.phase === 'done' ? [] : [`Rebuild        ${presentRebuild(rebuild)}`]),
    ...(kept.length === 0
      ? []
      : [`Kept           generation ${kept.join(', ')}: varve rollback switches to it`]),
    ...(webhooks === null
      ? []
      : [`Webhooks       ${webhooks.waiting} deliveries wait, ${webhooks.parked} are parked`]),
    ...(purges ?? []).map(({ receiver, count }) => `Purges         ${count} changes wait for ${receiver}`),
  ];
}

function processColumns(each: ListedProcess): readonly string[] {
  const { host, pid, role, epoch, address, version, position, lagSeconds, memoryBytes, isReady } = each;
  const silent = each.silentSeconds < 10 ? undefined : `silent for ${presentSeconds(each.silentSeconds)}`;
  return [
    ...[
      `${host}:${pid}`,
      role,
      epoch === null || silent !== undefined ? '' : `epoch ${epoch}`,
      address ?? '',
      version,
    ],
    position ?? '-',
    lagSeconds === null ? '-' : lagSeconds === 0 ? 'none' : presentSeconds(lagSeconds),
    presentBytes(memoryBytes),
    silent ?? (isReady ? 'yes' : 'no'),
  ];
}

function presentIndex(index: IndexState): string {
  if (index.status === 'unreachable') return `${index.address} does not answer: ${index.reason}`;
  const { address, status, nodes, unassignedShards, missing } = index;
  const of = nodes === 1 ? '1 node' : `${nodes} nodes`;
  const without = missing.length === 0 ? '' : `, missing: ${missing.join(', ')}`;
  return `${address} is ${status}: ${of}, ${unassignedShards} shards without a node${without}`;
}

function presentRebuild({ generation, phase, progress, startedAt, message }: Rebuild): string {
  const { done, total } = progress;
  const why = message === undefined ? '' : `: ${message}`;
  if (phase === 'cancelled') return `generation ${generation}, begun at ${startedAt}, was cancelled${why}`;
  return `generation ${generation}, ${phase}, ${done} of ${total}${why}`;
}

function workerColumns({ pid, role, position }: WorkerStatus): readonly string[] {
  return [role, String(pid), position === null ? 'starting' : `position ${position}`];
}

function presentUnreadable({ unreadable, foreignEvents }: Status['log']): readonly string[] {
  const skipped = `${foreignEvents} events of other programs are skipped: varve parked list shows them`;
  return [
    ...(unreadable === null
      ? []
      : [
          `Stopped before the event at position ${unreadable.position} (${unreadable.stream}, ${unreadable.type}): ${unreadable.reason}`,
        ]),
    ...(foreignEvents === 0 ? [] : [`Foreign ${skipped}`]),
  ];
}

function columnsOf(projection: ProjectionStatus): readonly string[] {
  const { lagEvents, lagSeconds, backlog, backlogSeconds } = projection;
  return [
    ...[projection.name, projection.kind, String(projection.generation), projection.position],
    lagEvents === 0
      ? 'none'
      : `${lagEvents} ${lagEvents === 1 ? 'event' : 'events'}, ${presentSeconds(lagSeconds)}`,
    String(projection.documents ?? 'unknown'),
    presentSize(projection),
    backlog === 0 ? '0' : `${backlog}, ${presentSeconds(backlogSeconds)}`,
    String(projection.parked),
  ];
}

/** Returns lines about the Strapi that a server follows; none if it follows none. */
function presentFollow(follow: FollowStatus | null): readonly string[] {
  if (follow === null) return [];
  const { url, role, ageSeconds, comparison, isComplete, requests, events, webhooks, pending } = follow;
  if (role === 'standby') return ['', `Follows ${url}: another process is the leader, and reads it`];
  const seen = ageSeconds === null ? 'not seen yet' : `as it was ${presentSeconds(ageSeconds)} ago`;
  const compared =
    comparison === null ? 'never compared' : `compared at ${comparison.at} in ${comparison.seconds} s`;
  return [
    '',
    `Follows ${url}: ${isComplete ? seen : 'the first copy is being made'}, ${compared}`,
    `        ${requests} requests, ${events} events, ${webhooks} webhooks, ${pending} documents to read`,
    ...(follow.trouble === null ? [] : [`        Strapi does not answer now: ${follow.trouble}`]),
    ...(follow.kept === 0
      ? []
      : [
          `        ${follow.kept} rows that Strapi no longer has are kept, because they are too many: see --follow-deletions`,
        ]),
    ...Object.entries(follow.refused).map(([type, reason]) => `        ${type} is not followed: ${reason}`),
    ...follow.stuck.map((name) => `        ${name} cannot be stored as Strapi has it`),
  ];
}
