import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { cutLog } from '../support/cut-log.ts';
import { createRandom } from '../support/naive-random.ts';
import { asOf, readsFor, readWhole } from '../support/past-requests.ts';
import { makeLongLog } from './make-long-log.ts';
import { startVarve } from './start-varve.ts';

/**
 * `node test/bench/past-truth.ts --data DIR`: compares answers as of random moments of a long log with those of servers whose log ends there.
 * Then compares them again without the snapshots that the first round has left, and after a rebuild. Makes the log if the directory is empty:
 * 1,000,000 events take some minutes. Exits with 1 if an answer differs.
 */
const options = new Command()
  .requiredOption('--data <dir>', 'data directory')
  .option('--restaurants <n>', 'restaurants', '20000')
  .option('--reviews <n>', 'reviews', '60000')
  .option('--events <n>', 'events of the log', '1000000')
  .option('--writes <n>', 'random writes to the corpus in the middle and at the end', '2000')
  .option('--moments <n>', 'random moments; half of them between the random writes', '20')
  .option('--reads <n>', 'reads of each moment', '1000')
  .option('--seed <n>', 'seed of everything', '1')
  .parse()
  .opts<
    Record<'data' | 'restaurants' | 'reviews' | 'events' | 'writes' | 'moments' | 'reads' | 'seed', string>
  >();

const { data } = options;
const random = createRandom(Number(options.seed));
const end = await makeLongLog(data, { ...options, writes: Number(options.writes) }, random);
const moments = Array.from({ length: Number(options.moments) }, (_, n) => momentOf(n));
console.log(`${end} events, seed ${options.seed}, moments ${moments.join(' ')}`);
const truths = new Map<number, readonly string[]>();
for (const moment of moments) truths.set(moment, await truthAt(moment));
await compare('as the server on the cut log');
rmSync(join(data, 'past'), { recursive: true, force: true });
await compare('without the snapshots of the first round');
await rebuild();
await compare('after a rebuild');

function momentOf(n: number): number {
  const last = Number(options.writes);
  if (n % 2 === 0) return random.between(1, end);
  return random.between(
    n % 4 === 1 ? end - last : Number(options.events) / 2,
    n % 4 === 1 ? end : Number(options.events) / 2 + last,
  );
}

function readsAt(moment: number): readonly string[] {
  return readsFor(moment, Number(options.reads));
}

/** No query ends at its time limit: on a busy machine it would differ by that. */
function start(folder: string) {
  return startVarve({ data: folder, until: '/health/ready', more: ['--query-time-limit', '60000'] });
}

/** Resolves to digests of the answers of a server whose log ends at the moment. */
async function truthAt(moment: number): Promise<readonly string[]> {
  mkdirSync(join(data, 'scratch'), { recursive: true });
  const folder = mkdtempSync(join(data, 'scratch', 'cut-'));
  cutLog(data, moment, folder);
  const server = await start(folder);
  const digests: string[] = [];
  let found = 0;
  for (const path of readsAt(moment)) {
    const answer = await readWhole(server.base, path);
    if (/"data":\[?\{/.test(answer.body)) found++;
    digests.push(digest(answer));
  }
  await server.stop();
  rmSync(folder, { recursive: true });
  console.log(`truth at ${moment}: ${digests.length} answers, ${found} with entries`);
  return digests;
}

async function compare(what: string): Promise<void> {
  const server = await start(data);
  let [compared, differences] = [0, 0];
  for (const [moment, digests] of truths)
    for (const [n, path] of readsAt(moment).entries()) {
      compared++;
      if (digest(await readWhole(server.base, asOf(path, BigInt(moment)))) === digests[n]) continue;
      differences++;
      process.exitCode = 1;
      console.log(`differs: ${path} as of ${moment}`);
    }
  await server.stop();
  console.log(`${what}: ${compared} answers of ${truths.size} moments, ${differences} differ`);
}

async function rebuild(): Promise<void> {
  const server = await start(data);
  const answer = await fetch(`${server.base}/_varve/operations/rebuild`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data: { graph: true } }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`POST /_varve/operations/rebuild: ${answer.status} ${text}`);
  await server.stop();
  console.log(`rebuild: ${text.trim().split('\n').at(-1)}`);
}

function digest({ status, body }: { readonly status: number; readonly body: string }): string {
  return createHash('sha256').update(`${status} ${body}`).digest('base64');
}
