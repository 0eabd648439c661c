import { parseArgs } from 'node:util';
import { removeIndices } from '../support/remove-indices.ts';
import { AS_RECORDED, runCorpus, startLoadedServer } from './run-corpus.ts';

/**
 * `npm run conformance -- --only deep`: the corpus against a server of its own. `--read-index URL` has it read from an
 * Elasticsearch, in indices of its own; all other arguments go to run.mjs (its head lists them), its exit code is this one's.
 */
const { values, tokens } = parseArgs({
  options: { 'read-index': { type: 'string' } },
  strict: false,
  tokens: true,
});
const url = values['read-index'];
const at = tokens.find((token) => token.kind === 'option' && token.name === 'read-index')?.index;
const rest = process.argv.slice(2).filter((_, i) => at === undefined || (i !== at && i !== at + 1));
const space = `conformance_${process.pid}`;
const onElasticsearch = typeof url === 'string' ? ['--read-index', url, '--space', space] : [];
const started = performance.now();
const server = await startLoadedServer({ env: AS_RECORDED, arguments: onElasticsearch });
console.log(`loaded in ${((performance.now() - started) / 1000).toFixed(1)} s`);
try {
  const { code } = await runCorpus(server.url, rest, 'show');
  process.exitCode = code;
  console.log(`${((performance.now() - started) / 1000).toFixed(1)} s with loading`);
} finally {
  await server.dispose();
  if (typeof url === 'string') await removeIndices(url, space);
}
