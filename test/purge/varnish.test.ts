import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../support/elasticsearch-node.ts';
import { createDataDirectory, startServer } from '../support/server.ts';
import { longWithVarnish, startVarnish } from '../support/varnish.ts';
import {
  createTags,
  editTags,
  expectNothingStale,
  measureSite,
  startReaders,
  untilPurged,
  type VarnishSite,
} from '../support/varnish-site.ts';

/** Number of kills of Varve. STOPS counts the times that Varnish is stopped for a while. */
const KILLS = Number(process.env['PURGE_KILLS'] ?? 10);
const STOPS = Number(process.env['PURGE_STOPS'] ?? 1);
const STOP_MS = Number(process.env['PURGE_STOP_MS'] ?? 5_000);
const DOCUMENTS = Number(process.env['PURGE_DOCUMENTS'] ?? 50);
/** Milliseconds of reads and edits without faults. */
const LOAD_MS = Number(process.env['PURGE_LOAD_MS'] ?? 3_000);
const READS_A_SECOND = Number(process.env['PURGE_READS'] ?? 400);
const EDITS_A_SECOND = Number(process.env['PURGE_EDITS'] ?? 5);
const TIMEOUT_MS = 600_000 + KILLS * 20_000 + STOPS * 20_000 + LOAD_MS;

type Site = VarnishSite & { restart(): Promise<void> };

async function startSite(): Promise<Site> {
  const [port, front] = [await freePort(), await freePort()];
  const data = createDataDirectory();
  const args = ['--port', String(port), '--cache-tags', 'varnish'];
  const start = () =>
    startServer({ data, arguments: [...args, '--purge', `varnish=http://127.0.0.1:${front}/`] });
  let server = await start();
  onTestFinished(() => server.dispose());
  const varnish = await startVarnish(front, port);
  onTestFinished(varnish.stop);
  const url = () => server.url;
  const site = {
    varnish,
    url,
    ...(await createTags(url, DOCUMENTS)),
    caughtUp: () => untilPurged(url),
    async restart() {
      await server.stop('SIGKILL');
      server = await start();
    },
  };
  await site.caughtUp();
  return site;
}

it('serves answers from Varnish, and no stale answer after it has caught up', {
  ...longWithVarnish('reads and edits through Varnish'),
  timeout: TIMEOUT_MS,
}, async () => {
  const site = await startSite();
  const { hits } = await measureSite(site, { reads: READS_A_SECOND, edits: EDITS_A_SECOND, ms: LOAD_MS });
  await expectNothingStale(site);
  expect(hits).toBeGreaterThan(0);
  // Varnish answers the same request again without Varve.
  const [path = ''] = site.paths;
  await fetch(site.varnish.url + path);
  expect((await fetch(site.varnish.url + path)).headers.get('x-cache')).toBe('hit');
});

it(`loses no purge while Varve is killed ${KILLS} times and Varnish stops ${STOPS} times`, {
  ...longWithVarnish('kills of Varve behind Varnish'),
  timeout: TIMEOUT_MS,
}, async () => {
  const site = await startSite();
  const readers = startReaders(site, READS_A_SECOND);
  for (let kill = 0; kill < KILLS; kill++) {
    const edits = editTags(site, { edits: EDITS_A_SECOND, ms: 600 });
    await delay(Math.random() * 400);
    await site.restart();
    await edits;
    await expectNothingStale(site);
  }
  for (let stop = 0; stop < STOPS; stop++) {
    const edits = editTags(site, { edits: EDITS_A_SECOND, ms: STOP_MS / 2 });
    site.varnish.signal('SIGSTOP');
    await delay(STOP_MS);
    site.varnish.signal('SIGCONT');
    await edits;
    await expectNothingStale(site);
  }
  await readers.stop();
});
