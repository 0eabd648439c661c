import { setTimeout as delay } from 'node:timers/promises';
import { type Metadata, type Server, status } from '@grpc/grpc-js';
import { createRandom } from '../naive-random.ts';
import { compressAnswers } from './double-compression.ts';
import { createDoubleFaults, type DoubleCall, type DoubleFaults, type Fault } from './double-faults.ts';
import { createDoubleLog, type DoubleLog } from './double-log.ts';
import {
  accessDeniedError,
  noLeaderError,
  notLeaderError,
  notLeaderNodeError,
  rpcError,
} from './double-messages.ts';
import { createServer, listen, type TlsIdentity } from './double-server.ts';
import { type DoubleServices, type DoubleVersion, defaultVersion, type Observed } from './double-services.ts';

export type KurrentDbDoubleOptions = {
  /** Doubles that share a log are the nodes of one cluster. Default: a new log. */
  readonly log?: DoubleLog;
  readonly credentials?: { readonly username: string; readonly password: string };
  /** Server whose answers the double gives. Default: see defaultVersion. */
  readonly server?: DoubleVersion;
  /** Version that the double reports, if it is another. */
  readonly version?: string;
  /** Rights of users by name, if there is more than one user. */
  readonly users?: Readonly<Record<string, DoubleUser>>;
  /** Key and certificate for TLS. Default: no TLS. */
  readonly tls?: TlsIdentity;
  readonly maxAppendSize?: number;
  readonly dropSlowAfter?: number;
  /** See DoubleServices. Default: false. */
  readonly checkpointsAhead?: boolean;
  /** Returns the port that its gossip and answers name. Default: the port on which it listens. */
  readonly advertisedPort?: () => number | undefined;
  /** Durations of appends. Default: no time. */
  readonly pace?: DoublePace;
};

/**
 * Durations of an append in milliseconds. Calls are written one after the other, each with a time for the call and one for each record, and
 * each waits for a flush of the disk.
 */
export type DoublePace = { readonly callMs: number; readonly recordMs: number; readonly flushMs: number };

/**
 * Paces of real servers on two shared cores. EventStoreDB 24.2 took 325, 1,083 and 1,974 appends a second with 1, 8 and 32 at once (1,332
 * with 8 in batches); its pace gives 330, 1,325 and 1,951. KurrentDB 26.1 took 376, 1,327 and 2,513 calls of `AppendRecords` with one
 * record, and with 32 records a call 5,114 and 9,146 records, with 1 and 4 calls at once; its pace gives 375, 2,469 and 2,469, and 5,405
 * and 8,743.
 */
export const MEASURED_PACE: Readonly<Record<DoubleVersion, DoublePace>> = {
  '24.2': { callMs: 0.33, recordMs: 0.1, flushMs: 2.6 },
  '26.1': { callMs: 0.3, recordMs: 0.105, flushMs: 2.26 },
};

/** POSTs a second that Varve made on the machine of MEASURED_PACE with its log in SQLite, by the number of concurrent ones. */
export const MEASURED_SQLITE_POSTS: ReadonlyMap<number, number> = new Map([
  [1, 343],
  [8, 1_205],
  [32, 2_136],
  [128, 3_207],
]);

/** Returns the pace of a machine that is faster by a factor. It is an estimate, and no server was measured. */
export const scaledPace = ({ callMs, recordMs, flushMs }: DoublePace, factor: number): DoublePace => ({
  callMs: callMs / factor,
  recordMs: recordMs / factor,
  flushMs: flushMs / factor,
});

export type DoubleUser = {
  readonly password: string;
  /** True if the ACL of $all allows reads. On a server only $admins may read it by default. */
  readonly readsAll: boolean;
  readonly writes: boolean;
};

export type KurrentDbDouble = {
  readonly host: string;
  readonly port: number;
  /** Address for openKurrentDbEventStore, without credentials. */
  readonly url: string;
  readonly log: DoubleLog;
  readonly faults: DoubleFaults;
  /** Number of calls of each kind that arrived. */
  readonly calls: { readonly [call in DoubleCall | 'gossip']: number };
  readonly observed: Observed;
  /**
   * Makes another node the leader. This node refuses calls that require the leader, and names it. `nobody`: there is no majority. A node
   * still names the last leader that it knew.
   */
  follow(leader: KurrentDbDouble | 'nobody'): void;
  /** The leader is gone, and this node does not know another yet. */
  loseLeader(): void;
  /** The state that the gossip of other nodes reports for it, if that differs from `isAlive`. */
  seenAs(state: 'alive' | 'dead'): void;
  /** Sets the other nodes that its gossip names. */
  join(nodes: readonly KurrentDbDouble[]): void;
  isAlive(): boolean;
  /** Cuts every connection and refuses new ones until `resume`, which takes the same port again. */
  interrupt(): void;
  resume(): Promise<void>;
  /** Stops, lets `change` put other files back, and starts again on the same port. */
  restore(change: () => void): Promise<void>;
  stop(): void;
};

/**
 * Starts a TEST DOUBLE of a KurrentDB node in this process. It has a log in memory, and answers over real gRPC on its
 * own port. It answers the calls of the official client: server features, gossip, append, batch append, read and
 * subscribe. The client package was generated from the same messages. The double shows that the adapter implements the
 * protocol and survives faults. It proves nothing about a real server (test/README.md explains how to run the same tests
 * on one).
 */
export const startKurrentDbDouble = async (
  options: KurrentDbDoubleOptions = {},
): Promise<KurrentDbDouble> => {
  const log = options.log ?? createDoubleLog();
  const faults = createDoubleFaults();
  const calls = {
    append: 0,
    appendRecords: 0,
    batchAppend: 0,
    read: 0,
    subscribe: 0,
    features: 0,
    gossip: 0,
  };
  const { server: version = defaultVersion() } = options;
  let leader: KurrentDbDouble | 'nobody' | undefined;
  let lastLeader: KurrentDbDouble | undefined;
  let isLost = false;
  let seen: 'alive' | 'dead' | undefined;
  let others: readonly KurrentDbDouble[] = [];
  let alive = true;

  const pace = createPace(options.pace);
  const takeTurn = createTurns();
  const enter = async (call: DoubleCall, metadata: Metadata, records = 1): Promise<Fault | undefined> => {
    calls[call] += 1;
    // Everyone may ask for the features, as on the server.
    if (call !== 'features') checkAccess(options, call, metadata);
    const fault = await meet(faults.take(call));
    if (call === 'append' || call === 'appendRecords' || call === 'batchAppend') {
      await takeTurn(metadata);
      await pace(records);
    }
    if (leader === undefined || isForwarded(call, metadata)) return fault;
    if (lastLeader === undefined) throw noLeaderError();
    throw call === 'appendRecords' ? notLeaderNodeError(lastLeader) : notLeaderError(lastLeader);
  };
  const services: DoubleServices = {
    server: version,
    log,
    enter,
    leaderState: () => (leader === 'nobody' ? leader : isLost ? 'lost' : 'known'),
    observed: createObserved(),
    maxAppendSize: options.maxAppendSize ?? Number.MAX_SAFE_INTEGER,
    dropSlowAfter: options.dropSlowAfter ?? Number.MAX_SAFE_INTEGER,
    checkpointsAhead: options.checkpointsAhead ?? false,
  };
  const gossip = () => {
    calls.gossip += 1;
    return [double, ...others].map((node) => ({
      node,
      isLeader: node === (leader ?? double),
      alive: node.isAlive(),
    }));
  };
  const start = async (at: number) => {
    server = createServer(services, gossip, {
      version: options.version ?? `${version}.0`,
      appendRecords: version === '26.1',
    });
    const bound = await listen(server, options.tls, at);
    compressAnswers(server, version === '26.1', (encodings) => services.observed.encodings.add(encodings));
    return bound;
  };
  const end = () => {
    alive = false;
    server?.forceShutdown();
  };
  let server: Server | undefined;
  const port = await start(0);
  const query = options.tls === undefined ? '?tls=false&discoveryInterval=10' : '?discoveryInterval=10';
  const double: KurrentDbDouble = {
    host: '127.0.0.1',
    get port() {
      return options.advertisedPort?.() ?? port;
    },
    url: `kurrentdb://127.0.0.1:${port}${query}`,
    log,
    faults,
    calls,
    observed: services.observed,
    follow(node) {
      leader = node === double ? undefined : node;
      if (node !== 'nobody') lastLeader = node;
      isLost = false;
    },
    loseLeader() {
      isLost = true;
    },
    join(nodes) {
      others = nodes;
    },
    isAlive: () => (seen === undefined ? alive : seen === 'alive'),
    seenAs(state) {
      seen = state;
    },
    interrupt: end,
    async resume() {
      await start(port);
      alive = true;
    },
    async restore(change) {
      end();
      change();
      await double.resume();
    },
    stop: end,
  };
  return double;
};

const createObserved = (): Observed => ({
  ...{ starts: [], eventsSent: 0, checkpointsSent: 0, batchCalls: 0, openBatchCalls: 0, scanned: 0 },
  encodings: new Set(),
});

/** Returns whether a node that is not the leader passes a call on to it, or answers it from its own log. */
const isForwarded = (call: DoubleCall, metadata: Metadata): boolean =>
  call === 'batchAppend' || (call !== 'appendRecords' && !metadata.get('requires-leader').includes('true'));

/** Seed of the order in which doubles of this process store concurrent calls. */
const SEED = Number(process.env['SEED'] ?? 14);
let isPrinted = false;

/**
 * Lets concurrent appends take their turns in a random order, as a server does. The messages of one batch call, which have one metadata, keep
 * their order.
 */
const createTurns = (): ((call: Metadata) => Promise<void>) => {
  if (!isPrinted) console.log(`the double stores concurrent calls in a random order: SEED=${SEED}`);
  isPrinted = true;
  const random = createRandom(SEED);
  const waiting = new Map<Metadata, (() => void)[]>();
  const release = () => {
    const calls = [...waiting.values()];
    waiting.clear();
    while (calls.length > 0) {
      const chosen = random.between(0, calls.length - 1);
      calls[chosen]?.shift()?.();
      if (calls[chosen]?.length === 0) calls.splice(chosen, 1);
    }
  };
  return (call) =>
    new Promise((resolve) => {
      if (waiting.size === 0) setImmediate(release);
      const own = waiting.get(call);
      if (own === undefined) waiting.set(call, [resolve]);
      else own.push(resolve);
    });
};

/** Resolves when the next append is on disk, after all earlier ones. */
const createPace = (pace: DoublePace | undefined): ((records: number) => Promise<void>) => {
  if (pace === undefined) return async () => {};
  let written = 0;
  let earlier = Promise.resolve();
  return (records) => {
    const now = performance.now();
    written = Math.max(written, now) + pace.callMs + records * pace.recordMs;
    earlier = Promise.all([earlier, delay(written + pace.flushMs - now)]).then(() => undefined);
    return earlier;
  };
};

const meet = async (fault: Fault | undefined): Promise<Fault | undefined> => {
  if (fault?.kind === 'hold') await fault.until;
  if (fault?.kind === 'fail') throw rpcError(fault.code, fault.message, fault.trailers);
  return fault;
};

/**
 * Refuses a wrong password with UNAUTHENTICATED (AuthenticationMiddleware answers 401), and everything else with
 * PERMISSION_DENIED (RpcExceptions.AccessDenied).
 */
const checkAccess = (
  { credentials, users }: KurrentDbDoubleOptions,
  call: DoubleCall,
  metadata: Metadata,
): void => {
  const known =
    users ?? (credentials && { [credentials.username]: { ...ADMIN, password: credentials.password } });
  if (known === undefined) return;
  const [, encoded] = /^Basic (.*)$/.exec(String(metadata.get('authorization')[0] ?? '')) ?? [];
  if (encoded === undefined) throw accessDeniedError();
  const [, name = '', password] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
  const user = known[name];
  if (user === undefined || user.password !== password)
    throw rpcError(status.UNAUTHENTICATED, 'Bad HTTP status code: 401');
  const isRead = call === 'read' || call === 'subscribe';
  if (isRead ? !user.readsAll : !user.writes) throw accessDeniedError();
};

const ADMIN = { readsAll: true, writes: true };
