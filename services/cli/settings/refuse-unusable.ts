import { isWildcard } from '../../http/sockets/loopback.ts';
import { logFile } from '../../stores/open-event-store.ts';
import { staleProblems } from './delivery-settings.ts';
import { purgeAgainProblem, purgeProblem } from './purge-settings.ts';
import { isEmbedded } from './read-index-settings.ts';
import type { ProcessRole } from './roles.ts';
import { InvalidSettings, type ServeSettings } from './settings.ts';

/** Throws InvalidSettings for combinations that cannot work, with a message for each that names the alternative. */
export function refuseUnusable(role: ProcessRole, settings: ServeSettings): void {
  const sentences = [
    embeddedProblem(role, settings),
    role === 'api' ? logProblem(settings) : undefined,
    role === 'serve' ? undefined : assetsProblem(settings),
    role === 'api' ? undefined : advertiseProblem(settings),
    // The leader purges the answers of `varve api`.
    ...staleProblems(role === 'api' ? { ...settings.caches, purge: [] } : settings.caches),
    role === 'serve' ? purgeProblem(settings.caches) : undefined,
    purgeAgainProblem({ ...settings.caches, ...settings.elasticsearch }),
    workersProblem(settings),
  ].filter((sentence) => sentence !== undefined);
  if (sentences.length > 0) throw new InvalidSettings(...sentences);
}

function embeddedProblem(role: ProcessRole, settings: ServeSettings): string | undefined {
  if (role === 'serve' || !isEmbedded(settings.elasticsearch)) return undefined;
  const needs = {
    api: 'varve api reads from the Elasticsearch that varve project writes',
    project: 'varve project writes Elasticsearch',
  }[role];
  return `--read-index (VARVE_READ_INDEX) cannot be embedded: ${needs}, so pass its address, such as http://127.0.0.1:9200, or use varve serve`;
}

/** Returns a problem if options are used whose features need a single worker. */
function workersProblem(settings: ServeSettings): string | undefined {
  const { workers, advertise } = settings.network;
  const { readIndex, readIndexCloudId } = settings.elasticsearch;
  if (workers === 1) return undefined;
  const used = Object.entries({
    '--read-index': readIndex === 'embedded' ? readIndexCloudId : readIndex,
    '--event-store': settings.data.eventStore,
    '--advertise': advertise,
    '--follow': settings.following.follow,
    '--purge': settings.caches.purge,
  }).flatMap(([option, value]) => (value === undefined ? [] : [option]));
  if (used.length === 0) return undefined;
  return `--workers (VARVE_WORKERS) must be 1 together with ${used.join(', ')}, got ${workers}: omit --workers, or start further processes of a shared log`;
}

function logProblem({ data: { eventStore } }: ServeSettings): string | undefined {
  if (eventStore !== undefined) return undefined;
  return '--event-store (VARVE_EVENT_STORE) is missing: varve api has no log of its own, so pass that of the other processes, such as sqlite:FILE or kurrentdb://HOST:PORT';
}

function assetsProblem(settings: ServeSettings): string | undefined {
  if (settings.files.assets !== undefined || logFile(settings.data) !== undefined) return undefined;
  return '--assets (VARVE_ASSETS) is missing: processes that share a log on a server share uploaded files too, so pass a folder that all of them see, or s3://bucket/prefix';
}

function advertiseProblem({ network, data: log }: ServeSettings): string | undefined {
  const { advertise, host } = network;
  if (advertise !== undefined || !isWildcard(host) || logFile(log) !== undefined) return undefined;
  return `--advertise (VARVE_ADVERTISE) is missing: other machines cannot reach ${host}, so pass the address where they reach this process, such as http://10.0.0.7:1337`;
}
