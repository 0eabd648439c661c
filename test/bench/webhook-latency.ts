import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { ROOT } from './bench-data.ts';
import { startVarve } from './start-varve.ts';

/**
 * `node test/bench/webhook-latency.ts`: measures the time from the beginning of a write to the arrival of its webhook at a receiver on
 * the same machine. Writes come one after the other. The aim is a p99 of 50 ms on an idle machine.
 */
const options = new Command()
  .option('--writes <n>', 'writes', '1000')
  .option('--checkout <dir>', 'the checkout that serves', ROOT)
  .parse()
  .opts<Record<'writes' | 'checkout', string>>();

const PAUSE_MS = 5;

const scratch = mkdtempSync(join(tmpdir(), 'varve-webhook-latency-'));
const arrivals = new Map<string, number>();
const receiver = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const { entry } = JSON.parse(Buffer.concat(parts).toString()) as {
      readonly entry: { readonly key: string };
    };
    arrivals.set(entry.key, performance.now());
    response.end();
  });
}).listen(0, '127.0.0.1');
const server = await startVarve({
  data: join(scratch, 'data'),
  checkout: options.checkout,
  until: '/health/ready',
});
try {
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  await post('/_varve/webhooks', { url, allowPrivate: true, events: ['entry.create'] });
  const times: number[] = [];
  for (let n = 0; n < Number(options.writes); n++) {
    const started = performance.now();
    await post('/api/tags', { key: `k${n}` });
    while (!arrivals.has(`k${n}`)) await delay(1);
    times.push((arrivals.get(`k${n}`) ?? 0) - started);
    await delay(PAUSE_MS);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => `${(times[Math.floor(times.length * share)] ?? 0).toFixed(1)} ms`;
  console.log(`${times.length} writes, to the receiver: p50 ${at(0.5)}, p90 ${at(0.9)}, p99 ${at(0.99)}`);
} finally {
  receiver.closeAllConnections();
  receiver.close();
  await server.stop();
  rmSync(scratch, { recursive: true, force: true });
}

async function post(path: string, data: object): Promise<void> {
  const answer = await fetch(server.base + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data }),
  });
  if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
}
