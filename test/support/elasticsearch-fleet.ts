import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { leaderOf, type Member, portOf, startMember } from './fleet.ts';
import { removeIndices } from './remove-indices.ts';
import type { ServerOptions } from './server.ts';

export type ElasticsearchFleetOptions = {
  /** Address of Elasticsearch. */
  readonly url: string;
  readonly space: string;
  readonly projects: number;
  readonly apis: number;
  /** Number of `varve serve`, which write and read. Default: 0. */
  readonly serves?: number;
  /** Ports of the first processes that answer reads. */
  readonly ports?: readonly number[];
  readonly env?: Readonly<Record<string, string>>;
  /** Address of the log. Default: an SQLite file of the fleet. */
  readonly eventStore?: string;
  /** More arguments of every process. */
  readonly arguments?: readonly string[];
};

/** `varve project` and `varve api` processes on one log and one Elasticsearch. */
export type ElasticsearchFleet = {
  readonly eventStore: string;
  readonly projects: readonly Member[];
  readonly apis: readonly Member[];
  readonly serves: readonly Member[];
  /** Resolves to the leader when there is one. */
  leader(): Promise<Member>;
  dispose(): Promise<void>;
};

/** Starts all processes at once. The reading processes wait for the writing ones themselves. */
export async function startElasticsearchFleet(
  options: ElasticsearchFleetOptions,
): Promise<ElasticsearchFleet> {
  const { url, space, env } = options;
  const folder = mkdtempSync(join(tmpdir(), 'varve-fleet-'));
  const eventStore = options.eventStore ?? `sqlite:${join(folder, 'events.db')}`;
  // Only a log in a file has a default folder for uploads.
  const more = [...(options.arguments ?? []), '--assets', join(folder, 'assets')];
  const args = ['--event-store', eventStore, '--read-index', url, '--space', space, ...more];
  const startAll = (role: NonNullable<ServerOptions['role']>, count: number) =>
    Promise.all(
      Array.from({ length: count }, (_unused, i) => {
        const name = `${role}${i + 1}`;
        const data = join(folder, name);
        const own = role === 'project' ? args : [...args, ...portOf(options, i)];
        return startMember(name, { role, data, arguments: own, ...(env === undefined ? {} : { env }) });
      }),
    );
  const [apis, projects, serves] = await Promise.all([
    startAll('api', options.apis),
    startAll('project', options.projects),
    startAll('serve', options.serves ?? 0),
  ]);
  return {
    ...{ eventStore, apis, projects, serves },
    leader: () => leaderOf([...projects, ...serves]),
    async dispose() {
      const all = [...apis, ...projects, ...serves];
      await Promise.all(all.map((member) => member.end('SIGKILL')));
      await removeIndices(url, space);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
