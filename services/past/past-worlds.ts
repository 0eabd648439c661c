import { setTimeout as delay } from 'node:timers/promises';
import { RequestError } from '../../shared/request-error.ts';
import { AS_OF } from '../query/root-parameters.ts';

/** A process that serves a past. */
export type PastProcess = {
  /** Resolves with its address when it answers. Rejects with RequestError if it refuses the past, with another error if it has ended. */
  readonly opened: Promise<string>;
  /** Resolves when the process has ended and its files are removed. */
  readonly ended: Promise<void>;
  kill(): void;
};

/** Content at a position. `until`: with what the releases will do that are due at this instant (ms since 1970). */
export type PastMoment = { readonly position: bigint; readonly until?: number | undefined };

export type PastWorldsOptions = {
  /** Starts the process for a moment. */
  readonly start: (moment: PastMoment) => PastProcess;
  /** Maximum number of processes. */
  readonly atMost: number;
  /** Called with the reason why a past could not be opened. */
  readonly failed: (position: bigint, error: unknown) => void;
  readonly limits?: PastLimits;
};

/** Times in milliseconds, and the numbers of requests and moments that may wait. */
export const PAST_LIMITS = {
  /** A process without requests ends after this time. */
  idleMs: 600_000,
  /** Maximum wait of a request for its past to be opened. */
  waitMs: 15_000,
  /** Maximum wait of the next past for requests of the one that it replaces. */
  leaveMs: 10_000,
  /** Maximum number of waiting requests. */
  waiting: 256,
  /** Maximum number of moments that wait for their turn. */
  moments: 16,
  /** A moment that nobody has asked for in this time is not opened. */
  wantedMs: 30_000,
};
export type PastLimits = Readonly<typeof PAST_LIMITS>;

/** A past in use. `done`: the request that asked for it has ended. */
export type UsedPast = { readonly address: string; done(): void };

export type PastWorlds = {
  /** Opens the past of a moment, if it is not open. Rejects with RequestError (503) if that takes too long. */
  use(moment: PastMoment): Promise<UsedPast>;
  /** Returns the number of processes. */
  count(): number;
  /** Ends all processes. Later requests start others. */
  end(): Promise<void>;
  /** Ends all processes, and starts no other. */
  close(): Promise<void>;
};

type World = {
  readonly key: string;
  readonly moment: PastMoment;
  /** Absent until it is its turn. */
  process: PastProcess | undefined;
  readonly address: PromiseWithResolvers<string>;
  users: number;
  usedAt: number;
};

type Worlds = Required<PastWorldsOptions> & {
  /** By moment, the one that was used last at the end. */
  readonly known: Map<string, World>;
  /** All processes that have not ended. */
  readonly running: Set<PastProcess>;
  readonly refused: Map<string, RequestError>;
  /** Pasts are opened one after the other. */
  turn: Promise<void>;
  waiting: number;
  isClosed: boolean;
};

/** Number of refused moments that are remembered, so that a repeated request starts no process. */
const MOST_REFUSED = 1_000;

/** Creates the pasts of a server. None is open. */
export function createPastWorlds(options: PastWorldsOptions): PastWorlds {
  const worlds: Worlds = {
    limits: PAST_LIMITS,
    ...options,
    known: new Map(),
    running: new Set(),
    refused: new Map(),
    turn: Promise.resolve(),
    waiting: 0,
    isClosed: false,
  };
  const { idleMs } = worlds.limits;
  const timer = setInterval(() => endIdle(worlds), idleMs / 10).unref();
  return {
    use: (moment) => use(worlds, moment),
    count: () => worlds.running.size,
    async end() {
      worlds.known.clear();
      await Promise.all([...worlds.running].map(end));
    },
    async close() {
      worlds.isClosed = true;
      clearInterval(timer);
      await Promise.all([...worlds.running].map(end));
    },
  };
}

async function use(worlds: Worlds, moment: PastMoment): Promise<UsedPast> {
  const { position, until = '' } = moment;
  const key = `${position}/${until}`;
  const refused = worlds.refused.get(key);
  if (refused !== undefined) throw refused;
  if (worlds.waiting >= worlds.limits.waiting) throw opening(position);
  const world = worlds.known.get(key) ?? begin(worlds, key, moment);
  // The last one in the map is the one that was used last.
  worlds.known.delete(key);
  worlds.known.set(key, world);
  world.users++;
  worlds.waiting++;
  const done = once(() => {
    world.users--;
    world.usedAt = performance.now();
  });
  try {
    return { address: await within(world.address.promise, worlds.limits.waitMs, position), done };
  } catch (error) {
    done();
    throw error;
  } finally {
    worlds.waiting--;
  }
}

async function within(address: Promise<string>, ms: number, position: bigint): Promise<string> {
  const ended = new AbortController();
  const late = delay(ms, undefined, { signal: ended.signal, ref: false }).then(() => {
    throw opening(position);
  });
  // The signal ends the wait, and nobody waits for it then.
  late.catch(() => {});
  try {
    return await Promise.race([address, late]);
  } finally {
    ended.abort();
  }
}

/** Returns the answer to a request that has waited for its past. The process continues to open it. */
function opening(position: bigint): RequestError {
  return new RequestError('past-opening', `The content at position ${position} is being opened: try again`, {
    source: 'query',
    param: AS_OF,
    found: String(position),
  });
}

/** Throws RequestError if too many moments wait. */
function begin(worlds: Worlds, key: string, moment: PastMoment): World {
  const waiting = [...worlds.known.values()].filter((each) => each.process === undefined);
  if (waiting.length >= worlds.limits.moments) throw opening(moment.position);
  const address = Promise.withResolvers<string>();
  // A past may fail when no request waits for it any more.
  address.promise.catch(() => {});
  const usedAt = performance.now();
  const world: World = { key, moment, process: undefined, address, users: 0, usedAt };
  // Never rejects: `open` handles every error.
  worlds.turn = worlds.turn.then(() => open(worlds, world));
  return world;
}

/** Never rejects: the error goes to the requests that wait. */
async function open(worlds: Worlds, world: World): Promise<void> {
  const { key, moment, address } = world;
  const { position } = moment;
  if (world.users === 0 && performance.now() - world.usedAt > worlds.limits.wantedMs) {
    forget(worlds, world);
    address.reject(opening(position));
    return;
  }
  try {
    await makePlace(worlds);
    if (worlds.isClosed) throw new Error('the server is stopping');
    const started = worlds.start(moment);
    world.process = started;
    worlds.running.add(started);
    // Never rejects: the end of a process only resolves.
    void started.ended.then(() => {
      worlds.running.delete(started);
      forget(worlds, world);
    });
    address.resolve(await started.opened);
  } catch (error) {
    forget(worlds, world);
    if (error instanceof RequestError && error.code !== 'past-opening') remember(worlds, key, error);
    else if (!worlds.isClosed) worlds.failed(position, error);
    address.reject(error instanceof RequestError ? error : opening(position));
  }
}

/** Ends the pasts that were not used for the longest time, until another one may be opened. */
async function makePlace(worlds: Worlds): Promise<void> {
  for (;;) {
    const open = [...worlds.known.values()].filter(({ process }) => process !== undefined);
    if (open.length < worlds.atMost) return;
    const [oldest] = open.filter(({ users }) => users === 0).concat(open);
    if (oldest === undefined) return;
    const deadline = performance.now() + worlds.limits.leaveMs;
    // Later requests for it get a new process.
    worlds.known.delete(oldest.key);
    while (oldest.users > 0 && performance.now() < deadline) await delay(LOOK_MS);
    if (oldest.process !== undefined) await end(oldest.process);
  }
}

const LOOK_MS = 20;

function forget(worlds: Worlds, world: World): void {
  if (worlds.known.get(world.key) === world) worlds.known.delete(world.key);
}

function remember({ refused }: Worlds, key: string, error: RequestError): void {
  const [first] = refused.keys();
  if (refused.size >= MOST_REFUSED && first !== undefined) refused.delete(first);
  refused.set(key, error);
}

function endIdle(worlds: Worlds): void {
  const since = performance.now() - worlds.limits.idleMs;
  for (const world of worlds.known.values())
    if (world.process !== undefined && world.users === 0 && world.usedAt < since) {
      forget(worlds, world);
      // Never rejects: the end of a process only resolves.
      void end(world.process);
    }
}

async function end(process: PastProcess): Promise<void> {
  process.kill();
  await process.ended;
}

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) work();
    isDone = true;
  };
}
