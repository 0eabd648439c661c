import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningServer, type ServerOptions, startServer } from './server.ts';

/** Several `varve serve` on one log, each with its own data directory. */
export type TestFleet = {
  readonly members: readonly Member[];
  /** Address of the log, such as `sqlite:…`. */
  readonly eventStore: string;
  /** Resolves to the leader when there is one. */
  leader(): Promise<Member>;
  /** Asks a member repeatedly until it is the leader. */
  becomesLeader(member: Member): Promise<void>;
  dispose(): Promise<void>;
};

export type Member = {
  readonly name: string;
  readonly data: string;
  /** Returns the current process, or the last one if none runs. */
  server(): RunningServer;
  isUp(): boolean;
  /** Ends the process with this signal. */
  end(signal: NodeJS.Signals): Promise<void>;
  /** Starts another process with the same data directory. Its port changes unless it was chosen. */
  start(): Promise<void>;
};

export type FleetOptions = {
  readonly size: number;
  /** Address of the log. Default: a new SQLite file. */
  readonly eventStore?: string;
  readonly arguments?: readonly string[];
  /** Ports of the first members. Default: free ports, which change at each start. */
  readonly ports?: readonly number[];
  /** Folder of content types. Default: those of the conformance corpus. */
  readonly contentTypes?: string;
};

export async function startFleet(options: FleetOptions): Promise<TestFleet> {
  const folder = mkdtempSync(join(tmpdir(), 'varve-fleet-'));
  const eventStore = options.eventStore ?? `sqlite:${join(folder, 'events.db')}`;
  const args = ['--event-store', eventStore, ...(options.arguments ?? [])];
  const members: Member[] = [];
  for (let n = 1; n <= options.size; n++) {
    const types = options.contentTypes === undefined ? {} : { contentTypes: options.contentTypes };
    const own = [...args, ...portOf(options, n - 1)];
    members.push(await startMember(`p${n}`, { ...types, data: join(folder, `p${n}`), arguments: own }));
  }
  return {
    members,
    eventStore,
    leader: () => leaderOf(members),
    async becomesLeader(member) {
      await leaderOf([member]);
    },
    async dispose() {
      await Promise.all(members.map((member) => member.end('SIGKILL')));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Returns the arguments for a member's fixed port, or none if it has no fixed port. */
export function portOf({ ports }: Pick<FleetOptions, 'ports'>, at: number): readonly string[] {
  const port = ports?.[at];
  return port === undefined ? [] : ['--port', String(port)];
}

/** Starts a member. Resolves when it serves. */
export async function startMember(
  name: string,
  options: ServerOptions & { readonly data: string },
): Promise<Member> {
  const { data } = options;
  const start = () => startServer(options);
  let server = await start();
  let isUp = true;
  return {
    name,
    data,
    server: () => server,
    isUp: () => isUp,
    async end(signal) {
      isUp = false;
      await server.stop(signal);
    },
    async start() {
      server = await start();
      isUp = true;
    },
  };
}

/** Without a leader for so long, a test has failed. */
const LEADER_MS = 180_000;

/** Asks the members repeatedly until one is the leader. Rejects with their answers if none is for three minutes. */
export async function leaderOf(members: readonly Member[]): Promise<Member> {
  for (const until = performance.now() + LEADER_MS; performance.now() < until; await soon())
    for (const member of members) if (await isLeading(member)) return member;
  const answers = members.map(async (member) => `${member.name}: ${await readinessOf(member)}`);
  throw new Error(`no process is the leader: ${(await Promise.all(answers)).join('; ')}`);
}

async function readinessOf(member: Member): Promise<string> {
  if (!member.isUp()) return 'ended';
  return fetch(`${member.server().url}/health/ready`, { signal: AbortSignal.timeout(5_000) })
    .then(async (answer) => `${answer.status} ${await answer.text()}`)
    .catch(String);
}

/** Returns true if the process answers other processes and is the leader. */
async function isLeading(member: Member): Promise<boolean> {
  if (!member.isUp()) return false;
  try {
    const answer = await fetch(`${member.server().url}/_varve/leader`, {
      signal: AbortSignal.timeout(5_000),
    });
    return ((await answer.json()) as { readonly epoch: number | null }).epoch !== null;
  } catch {
    return false;
  }
}

export type Reader = {
  /** Stops reading, and returns the answers other than 200. */
  stop(): Promise<readonly string[]>;
};

/** Starts reads of a member that is always up, one after the other with a short pause. */
export function startReader(member: Member, path: string): Reader {
  const failures: string[] = [];
  let stopped = false;
  const run = async () => {
    while (!stopped) {
      const answer = await fetch(member.server().url + path);
      const text = await answer.text();
      if (answer.status !== 200) failures.push(`${answer.status} ${text}`);
      await soon();
    }
  };
  const running = run();
  return {
    async stop() {
      stopped = true;
      await running;
      return failures;
    },
  };
}

function soon(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20));
}
