import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createApiClient } from '../support/api-client.ts';
import { runVarve } from '../support/run-varve.ts';
import { createDataDirectory, type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { startReceiver } from '../support/webhook-receiver.ts';

const PAGE = 4_096;

/** Overwrites the first page of a file, or all others. */
function overwrite(file: string, which: 'first' | 'others'): void {
  const bytes = readFileSync(file);
  writeFileSync(file, which === 'first' ? bytes.fill(7, 0, PAGE) : bytes.fill(7, PAGE));
}

const DAMAGES: Readonly<Record<string, (file: string) => void>> = {
  'is not a database': (file) => overwrite(file, 'first'),
  'has damaged pages': (file) => overwrite(file, 'others'),
  'is cut': (file) => truncateSync(file, PAGE),
};

async function expectDelivered(damage: string): Promise<void> {
  const [data, receiver] = [createDataDirectory(), await startReceiver()];
  let server: RunningServer = await startServer({ data });
  onTestFinished(async () => {
    await server.dispose();
    await receiver.close();
    rmSync(data, { recursive: true, force: true });
  });
  const edit = (key: string) =>
    createApiClient(server.url).data('POST', '/api/countries', { data: { key, name: key } });
  const hook = { url: receiver.url, allowPrivate: true, events: ['entry.create'] };
  await createApiClient(server.url).data('POST', '/_varve/webhooks', { data: hook });
  await edit('a');
  await receiver.until(1);
  receiver.answer(() => ({ status: 503 }));
  await edit('b');
  await receiver.until(2);
  await server.stop();
  const file = join(data, 'webhooks.db');
  for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true });
  DAMAGES[damage]?.(file);
  const { code, stderr } = await runVarve(['webhook', 'deliveries', '--data', data]);
  expect(code).toBe(1);
  expect(stderr).toContain(
    `${file}, which has the deliveries of webhooks, is damaged: start the server again`,
  );
  receiver.answer(() => ({ status: 200 }));
  server = await startServer({ data });
  const [, , third] = await receiver.until(3);
  expect(third?.json.entry?.['key']).toBe('b');
  expect(server.output()).toContain(
    'a damaged file is replaced: deliveries that the log does not list as done are sent again',
  );
  expect(existsSync(`${file}.damaged`)).toBe(true);
  await edit('c');
  expect((await receiver.until(4))[3]?.json.entry?.['key']).toBe('c');
}

describe('a start on a webhooks.db', () => {
  it.each(['has damaged pages'])('that %s sends unfinished deliveries again', expectDelivered);

  describe('of another kind', takesMinutes('other damages of webhooks.db'), () => {
    it.each(['is not a database', 'is cut'])('that %s sends unfinished deliveries again', expectDelivered);
  });
});
