import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { leaderOf, type Member, startMember } from './fleet.ts';
import { removeIndices } from './remove-indices.ts';
import type { ServerOptions } from './server.ts';

export type ElasticsearchFleetOptions = {
  /** Of Elasticsearch. */
  readonly url: string;
  readonly space: string;
  readonly projects: number;
  readonly apis: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Default: an SQLite file of the fleet. */
  readonly eventStore?: string;
  /** More arguments of every process. */
  readonly arguments?: readonly string[];
};

/** Processes of both roles on one log and one Elasticsearch. */
export type ElasticsearchFleet = {
  readonly eventStore: string;
  readonly projects: readonly Member[];
  readonly apis: readonly Member[];
  /** The `varve project` that is the leader; waits until there is one. */
  leader(): Promise<Member>;
  dispose(): Promise<void>;
};

/** Starts all at once: the reading processes wait for the writing ones, in any order. */
export async function startElasticsearchFleet(
  options: ElasticsearchFleetOptions,
): Promise<ElasticsearchFleet> {
  const { url, space, env } = options;
  const folder = mkdtempSync(join(tmpdir(), 'varve-fleet-'));
  const eventStore = options.eventStore ?? `sqlite:${join(folder, 'events.db')}`;
  // A log that is not a file has no default folder for uploads.
  const own = [...(options.arguments ?? []), '--assets', join(folder, 'assets')];
  const args = ['--event-store', eventStore, '--read-index', url, '--space', space, ...own];
  const startAll = (role: NonNullable<ServerOptions['role']>, count: number) =>
    Promise.all(
      Array.from({ length: count }, (_unused, i) => {
        const name = `${role}${i + 1}`;
        const data = join(folder, name);
        return startMember(name, { role, data, arguments: args, ...(env === undefined ? {} : { env }) });
      }),
    );
  const [apis, projects] = await Promise.all([
    startAll('api', options.apis),
    startAll('project', options.projects),
  ]);
  return {
    ...{ eventStore, apis, projects },
    leader: () => leaderOf(projects),
    async dispose() {
      await Promise.all([...apis, ...projects].map((member) => member.end('SIGKILL')));
      await removeIndices(url, space);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
