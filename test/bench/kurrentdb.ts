import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openKurrentDbEventStore } from '../../shared/event-store/kurrentdb/kurrentdb-event-store.ts';
import { newEvents } from '../contract/event-store-fixtures.ts';
import { MEASURED_PACE, startKurrentDbDouble } from '../support/kurrentdb/kurrentdb-double.ts';
import { realServerUrl } from '../support/kurrentdb/real-server.ts';
import { startServer } from '../support/server.ts';
import { importDataSet } from './bench-data.ts';

/**
 * `node test/bench/kurrentdb.ts [seconds]`: measures raw appends of the adapter and POSTs to a server on the same log, in turns, with 1,
 * 8 and 32 at once. Then it measures an import into such a log and one into an SQLite file. The log is the server that
 * VARVE_TEST_KURRENTDB names, or else the gRPC double in its own process. The double is measured at full speed and at a real server's
 * speed (MEASURED_PACE).
 */
const CONCURRENCY = [1, 8, 32] as const;
const ROUNDS = 3;

const PACED = '--paced';

if (process.send !== undefined) await serveDouble(process.argv.includes(PACED));
else if (realServerUrl() !== undefined) await run(realServerUrl() as string);
else for (const pace of [[], [PACED]]) await runOnDouble(pace);

async function serveDouble(isPaced: boolean): Promise<void> {
  const double = await startKurrentDbDouble(isPaced ? { pace: MEASURED_PACE } : {});
  process.send?.(double.url);
}

async function runOnDouble(pace: readonly string[]): Promise<void> {
  const double = fork(fileURLToPath(import.meta.url), pace);
  try {
    const [url] = await once(double, 'message');
    console.log(
      pace.length === 0 ? 'the double, as fast as it can be' : 'the double, at the pace of a server',
    );
    await run(String(url));
  } finally {
    double.kill();
  }
}

async function run(url: string): Promise<void> {
  const seconds = Number(process.argv[2] ?? 3);
  const space = `bench_${process.pid}`;
  const store = openKurrentDbEventStore(url, { space });
  const key = randomBytes(32).toString('base64url');
  const server = await startServer({
    arguments: ['--event-store', url, '--space', space, '--access-key', key],
  });
  try {
    for (const concurrency of CONCURRENCY) {
      const ratios: string[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const raw = await measure(concurrency, seconds, () => appendOne(store, space));
        const posts = await measure(concurrency, seconds, () => post(server.url));
        ratios.push(`${raw} appends/s, ${posts} POSTs/s, ratio ${(posts / raw).toFixed(2)}`);
      }
      console.log(`${concurrency} at once: ${ratios.join('; ')}`);
    }
    await server.stop();
    measureImports(['--event-store', url, '--space', `${space}_import`, '--access-key', key]);
  } finally {
    await server.dispose();
    await store.close();
  }
}

function measureImports(settings: readonly string[]): void {
  const scratch = mkdtempSync(join(tmpdir(), 'varve-bench-'));
  const size = { restaurants: '3000', reviews: '9000' };
  for (const [name, more] of [
    ['KurrentDB', settings],
    ['SQLite', []],
  ] as const) {
    const { documents, seconds } = importDataSet(join(scratch, name), join(scratch, `${name}-files`), size, {
      settings: more,
    });
    console.log(
      `import into ${name}: ${documents} documents, ${Math.round(documents / seconds)}/s with the start`,
    );
  }
  rmSync(scratch, { recursive: true });
}

async function appendOne(store: ReturnType<typeof openKurrentDbEventStore>, space: string): Promise<void> {
  await store.append(`${space}.raw-${randomBytes(8).toString('hex')}`, 'none', newEvents(1));
}

async function post(url: string): Promise<void> {
  const answer = await fetch(`${url}/api/restaurants`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data: { name: 'Da Carmela', key: randomBytes(8).toString('hex') } }),
  });
  if (answer.status !== 201) throw new Error(`${answer.status} ${await answer.text()}`);
  await answer.arrayBuffer();
}

/** Returns the number of calls per second. */
async function measure(concurrency: number, seconds: number, call: () => Promise<void>): Promise<number> {
  const until = performance.now() + seconds * 1000;
  let done = 0;
  const worker = async () => {
    while (performance.now() < until) {
      await call();
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return Math.round(done / seconds);
}
