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
  /** Where the log is, and what else every process is told. Default: an SQLite file of the fleet's own. */
  readonly eventStore?: string;
  readonly arguments?: readonly string[];
};

/** Processes of both roles on one log and one Elasticsearch. */
export type ElasticsearchFleet = {
  readonly eventStore: string;
  readonly projects: readonly Member[];
  readonly apis: readonly Member[];
  /** The project that takes commands now; waits until there is one. */
  leader(): Promise<Member>;
  dispose(): Promise<void>;
};

/** All are started at once: those that read wait for those that write, in whatever order they come. */
export async function startElasticsearchFleet(
  options: ElasticsearchFleetOptions,
): Promise<ElasticsearchFleet> {
  const { url, space, env } = options;
  const folder = mkdtempSync(join(tmpdir(), 'varve-fleet-'));
  const eventStore = options.eventStore ?? `sqlite:${join(folder, 'events.db')}`;
  // Beside a log that is no file there is no folder for uploads.
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
