import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { startElasticsearchFleet } from '../support/elasticsearch-fleet.ts';
import { realServerUrl } from '../support/kurrentdb/real-server.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { AS_RECORDED, loadFixtures, runCorpus, startLoadedServer } from './run-corpus.ts';

/**
 * `npm run conformance -- --only deep`: runs the corpus against a new server. With `--read-index URL`, the server reads from new
 * indices on Elasticsearch. With `--fleet` in addition, all requests go to a `varve api` next to a `varve project`. With
 * `VARVE_TEST_KURRENTDB`, the log of a single server is on a KurrentDB, in a new namespace. All other arguments are passed to run.mjs
 * (its head lists them), and its exit code is returned.
 */
const { values, tokens } = parseArgs({
  options: { 'read-index': { type: 'string' }, fleet: { type: 'boolean' } },
  strict: false,
  tokens: true,
});
const url = values['read-index'];
const own = new Set(
  tokens.flatMap((token) => {
    if (token.kind !== 'option') return [];
    if (token.name === 'fleet') return [token.index];
    return token.name === 'read-index' ? [token.index, token.index + 1] : [];
  }),
);
const rest = process.argv.slice(2).filter((_, i) => !own.has(i));
const space = `conformance_${process.pid}_${Date.now()}`;
/** URL of a KurrentDB that holds the log. Absent: the log is an SQLite file. */
const log = realServerUrl();
const started = performance.now();
const server = await start();
console.log(`loaded in ${((performance.now() - started) / 1000).toFixed(1)} s`);
try {
  const { code } = await runCorpus(server.url, rest, 'show');
  process.exitCode = code;
  console.log(`${((performance.now() - started) / 1000).toFixed(1)} s with loading`);
} finally {
  await server.dispose();
  if (typeof url === 'string') await removeIndices(url, space);
}

async function start(): Promise<{ readonly url: string; dispose(): Promise<void> }> {
  if (values['fleet'] !== true) {
    const onElasticsearch = typeof url === 'string' ? ['--read-index', url, '--space', space] : [];
    const onKurrentDb =
      log === undefined ? [] : ['--event-store', log, '--access-key', randomBytes(32).toString('base64url')];
    const named = onElasticsearch.length > 0 || log === undefined ? [] : ['--space', space];
    return startLoadedServer({ env: AS_RECORDED, arguments: [...onElasticsearch, ...onKurrentDb, ...named] });
  }
  if (typeof url !== 'string')
    throw new Error('--fleet reads from Elasticsearch: name one with --read-index');
  const fleet = await startElasticsearchFleet({ url, space, projects: 1, apis: 1, env: AS_RECORDED });
  const api = fleet.apis[0]?.server().url ?? '';
  await loadFixtures(api);
  return { url: api, dispose: fleet.dispose };
}
