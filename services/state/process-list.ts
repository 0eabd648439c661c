import type { IncomingMessage, ServerResponse } from 'node:http';
import { hostname } from 'node:os';
import { text } from 'node:stream/consumers';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { NO_LEASE } from '../../shared/fleet/lease.ts';
import { readLease } from '../fleet/lease-view.ts';
import type { Membership } from '../fleet/membership.ts';
import type { ConditionCheck, FoundCondition } from '../operating/conditions.ts';
import type { Operating } from '../operating/operating.ts';
import { type ListedProcess, PROCESS_LIST, PROCESS_REPORT, type ProcessReport } from './process-report.ts';

const PATH = '/_varve/processes';
/** `<milliseconds since 1970>.<signature>`; the signature is that of the time and the body. */
const SIGNATURE_HEADER = 'varve-signature';
const ANNOUNCE_EVERY_MS = 2_000;
const ANSWERS_WITHIN_MS = 2_000;
const LONGEST_BODY = 100_000;
/** Difference of clocks up to which a report is accepted. */
const CLOCKS_DIFFER_MS = 300_000;
/** A process that was silent for so long has ended for good. */
const FORGOTTEN_MS = 600_000;
const SILENT_MS = 10_000;
/** A silent process whose place another one has taken is omitted before it counts as silent. */
const SUCCEEDED_MS = 5_000;
/** Two processes that replace each other as the leader report themselves only in between. */
const REFUSED_FOR_MS = 60_000;

export type JoinOptions = {
  readonly log: EventStore;
  readonly space: string;
  readonly membership: Pick<Membership, 'owner' | 'questions'>;
  readonly pid: number;
  readonly address: string | null;
};

export type ProcessFigures = {
  readonly position: () => bigint;
  readonly lagSeconds: () => Promise<number>;
  readonly epoch: () => number | undefined;
};

/** The processes of a log, as one of them knows them. */
export type ProcessList = ReturnType<typeof createProcessList>;

type Reported = Pick<Operating, 'role' | 'version' | 'readiness' | 'conditions'>;
type Heard = { readonly report: ProcessReport; readonly at: number };

/**
 * Creates the list of a process that is alone. After `join` it announces itself every two seconds to the leader, whose answer lists all
 * processes. A process keeps the list when the leader is gone, so the next leader knows the others. `place`: see ProcessReport.
 */
export function createProcessList(operating: Reported, place: string | null) {
  const startedAt = new Date(Date.now() - process.uptime() * 1_000).toISOString();
  const others = new Map<string, Heard>();
  let joined: JoinOptions | undefined;
  let figures: ProcessFigures | undefined;
  let lease = NO_LEASE;
  let unreachableAt: number | undefined;
  let refused: Refused | undefined;
  let timer: NodeJS.Timeout | undefined;

  const seat = (): Seat => ({ host: hostname(), place, address: joined?.address ?? null, startedAt });
  const own = async (): Promise<ProcessReport> => {
    const readiness = await operating.readiness.check();
    const lag = await figures?.lagSeconds().catch(() => undefined);
    return {
      ...seat(),
      role: operating.role,
      pid: joined?.pid ?? process.pid,
      version: operating.version,
      epoch: figures?.epoch() ?? null,
      position: figures === undefined ? null : String(figures.position()),
      lagSeconds: lag ?? null,
      memoryBytes: process.memoryUsage.rss(),
      isReady: readiness.status === 'ready',
      reason: readiness.status === 'ready' ? (readiness.note ?? null) : readiness.message,
      conditions: [...(await operating.conditions.look())],
    };
  };
  const hear = (report: ProcessReport, silentSeconds: number): void => {
    const name = nameOf(report);
    const at = performance.now() - silentSeconds * 1_000;
    if (isOwn(report) || (others.get(name)?.at ?? Number.NEGATIVE_INFINITY) > at) return;
    others.set(name, { report, at });
  };
  const isOwn = ({ host, pid }: ProcessReport) => host === hostname() && pid === (joined?.pid ?? process.pid);
  const known = () => listKnown(others, seat());
  const listAll = async (): Promise<readonly ListedProcess[]> => [
    { ...(await own()), silentSeconds: 0 },
    ...known(),
  ];
  const announce = async ({ log, space, membership }: JoinOptions): Promise<void> => {
    lease = await readLease(log, space, lease);
    const { leader } = lease;
    if (leader === undefined || leader.owner === membership.owner) {
      unreachableAt = undefined;
      return;
    }
    try {
      const answer = await send(leader.address, JSON.stringify(await own()), membership);
      for (const { silentSeconds, ...report } of answer) hear(report, silentSeconds);
      unreachableAt = undefined;
    } catch (error) {
      unreachableAt ??= performance.now();
      if (error instanceof OtherKey) refused = { by: leader.address, at: performance.now() };
    }
  };
  return {
    /** Begins to announce this process. */
    join(options: JoinOptions): void {
      joined = options;
      let isAnnouncing = false;
      timer = setInterval(() => {
        if (isAnnouncing) return;
        isAnnouncing = true;
        announce(options)
          // The log cannot be read now; a condition of its own says so.
          .catch(() => {})
          .finally(() => {
            isAnnouncing = false;
          });
      }, ANNOUNCE_EVERY_MS).unref();
    },
    /** Sets where the process has got to, once it serves. */
    serving(found: ProcessFigures): void {
      figures = found;
    },
    /** Returns this process and all others that have not left. */
    list: async () => (await listAll()).filter(({ hasLeft }) => hasLeft !== true),
    /** Reports that this process stops, to all that are or can become the leader. Others would list it as silent. Never rejects. */
    async leave(): Promise<void> {
      clearInterval(timer);
      if (joined === undefined) return;
      const { membership } = joined;
      const addresses = new Set([lease.leader?.address, ...known().map(({ address }) => address)]);
      addresses.delete(joined.address ?? undefined);
      const report = JSON.stringify({ ...(await own()), hasLeft: true });
      await Promise.allSettled(
        [...addresses].map(async (address) => address && (await send(address, report, membership))),
      );
    },
    /** Returns what is wrong if the leader of the log does not answer, for a process that does not watch it in another way. */
    leaderAnswers: (() => silentLeader(lease.leader?.address, unreachableAt)) satisfies ConditionCheck,
    /** Returns what is wrong if a leader could not verify this process's reports. */
    keyIsShared: (() => differingKey(refused)) satisfies ConditionCheck,
    /**
     * Takes the report of another process, `POST /_varve/processes`, and answers with all known processes. Only processes with the access
     * key can sign one. Returns false for another path.
     */
    answer(request: IncomingMessage, response: ServerResponse): boolean {
      if (request.url !== PATH || request.method !== 'POST' || joined === undefined) return false;
      const { membership } = joined;
      take(request, membership.questions)
        .then(async (report) => {
          hear(report, 0);
          const body = JSON.stringify(await listAll());
          response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' }).end(body);
        })
        .catch((error: unknown) =>
          response.writeHead(error instanceof OtherKey ? 401 : 403, { 'content-length': 0 }).end(),
        );
      return true;
    },
    close: () => clearInterval(timer),
  };
}

/** Address of a leader that could not verify a report, and the time in milliseconds of `performance.now()`. */
type Refused = { readonly by: string; readonly at: number };

function silentLeader(address: string | undefined, since: number | undefined): FoundCondition | undefined {
  if (since === undefined || performance.now() - since < SILENT_MS) return undefined;
  return { code: 'no-leader', message: `the leader ${address} does not answer` };
}

function differingKey(refused: Refused | undefined): FoundCondition | undefined {
  if (refused === undefined || performance.now() - refused.at > REFUSED_FOR_MS) return undefined;
  const message = `the leader at ${refused.by} has another access key than this process, or another time`;
  return { code: 'keys-differ', message };
}

/** Where a process runs, and since when. */
type Seat = Pick<ProcessReport, 'host' | 'place' | 'address' | 'startedAt'>;

/** Lists the other processes. Forgets those that were silent for long, or whose place a later one has taken. */
function listKnown(others: Map<string, Heard>, own: Seat): readonly ListedProcess[] {
  const now = performance.now();
  const all = [own, ...Array.from(others.values(), ({ report }) => report)];
  for (const [name, { report, at }] of others) {
    const isSucceeded = now - at > SUCCEEDED_MS && all.some((later) => succeeds(later, report));
    if (isSucceeded || now - at > FORGOTTEN_MS) others.delete(name);
  }
  return [...others.values()].map(({ report, at }) => ({ ...report, silentSeconds: (now - at) / 1_000 }));
}

/** Returns whether a process runs in the place of an earlier one, which has ended. */
function succeeds(later: Seat, earlier: Seat): boolean {
  if (later.startedAt <= earlier.startedAt) return false;
  const isSamePlace = later.place !== null && later.place === earlier.place && later.host === earlier.host;
  return isSamePlace || (later.address !== null && later.address === earlier.address);
}

function nameOf({ host, pid, role }: ProcessReport): string {
  return `${host} ${pid} ${role}`;
}

type Seal = Membership['questions'];

async function send(
  address: string,
  body: string,
  { questions }: JoinOptions['membership'],
): Promise<readonly ListedProcess[]> {
  const now = String(Date.now());
  const response = await fetch(new URL(PATH, address), {
    method: 'POST',
    headers: {
      [SIGNATURE_HEADER]: `${now}.${questions.sign('process', now, body)}`,
      'content-type': 'application/json',
    },
    body,
    signal: AbortSignal.timeout(ANSWERS_WITHIN_MS),
  });
  if (response.status === 401) throw new OtherKey('the leader has another access key');
  if (!response.ok) throw new Error(`the leader answered ${response.status}`);
  return PROCESS_LIST.parse(await response.json());
}

/** Error of a report whose signature is not one of now with this log's access key. */
class OtherKey extends Error {}

/** Reads a report. Rejects if it is too long, too old, or not signed by a process with the access key. */
async function take(request: IncomingMessage, questions: Seal): Promise<ProcessReport> {
  if (Number(request.headers['content-length'] ?? LONGEST_BODY + 1) > LONGEST_BODY)
    throw new Error('too long');
  const body = await text(request);
  const [, at = '', signature = ''] =
    /^(\d{1,15})\.([\w-]{43})$/.exec(String(request.headers[SIGNATURE_HEADER])) ?? [];
  if (Math.abs(Date.now() - Number(at)) > CLOCKS_DIFFER_MS) throw new OtherKey('too old');
  if (!questions.isSigned(signature, 'process', at, body)) throw new OtherKey('not signed');
  return PROCESS_REPORT.parse(JSON.parse(body));
}
