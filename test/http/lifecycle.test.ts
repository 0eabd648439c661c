import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { dataForTest } from '../support/data-for-test.ts';
import { CONFORMANCE_SCHEMA, spawnVarve } from '../support/server.ts';
import { startForTest } from '../support/start-for-test.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

it('serves: /_health is 204', async () => {
  const server = await startForTest();
  const answer = await fetch(`${server.url}/_health`);
  expect(answer.status).toBe(204);
  expect(await answer.text()).toBe('');
});

const isAnswered = async (signal: 'SIGTERM' | 'SIGINT') => {
  const server = await startForTest();
  const body = JSON.stringify({ data: { key: 'k', name: 'late' } });
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  const head = `POST /api/restaurants HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nexpect: 100-continue\r\n\r\n`;
  socket.setEncoding('utf8').write(head);
  let answer = '';
  const closed = new Promise((resolve) => socket.on('close', resolve));
  // The request is in flight when the server has asked for its body.
  await new Promise<void>((resolve) => {
    socket.on('data', (text) => {
      answer += text;
      if (answer.includes('100 Continue')) resolve();
    });
  });
  const exit = server.stop(signal);
  socket.write(body);
  await closed;
  expect(answer).toMatch(/HTTP\/1\.1 201 /);
  expect(await exit).toMatchObject({ code: 0, signal: null });
  const again = await startForTest({ data: server.data });
  const list = (await (await fetch(`${again.url}/api/restaurants`)).json()) as { data: { name: string }[] };
  expect(list.data.map(({ name }) => name)).toEqual(['late']);
};
const stops = '%s: a write in flight is answered, then exit 0';
it.each(['SIGTERM'] as const)(stops, isAnswered);
it.each(['SIGINT'] as const)(stops, takesMinutes('a second signal to stop'), isAnswered);

it(
  'ends with 0 when it is stopped as soon as it is ready, before its first output',
  takesMinutes('a stop right after the start'),
  async () => {
    const probe = createServer().listen(0, '127.0.0.1');
    await once(probe, 'listening');
    const port = String((probe.address() as AddressInfo).port);
    probe.close();
    const data = dataForTest();
    const server = spawnVarve([
      'serve',
      '--content-types',
      CONFORMANCE_SCHEMA,
      '--data',
      data,
      '--port',
      port,
    ]);
    const health = async () =>
      (await fetch(`http://127.0.0.1:${port}/_health`).catch(() => undefined))?.status;
    while ((await health()) !== 204) expect(server.child.exitCode, server.output()).toBeNull();
    server.child.kill('SIGTERM');
    const { code, output } = await server.exited;
    expect({ code, output }).toEqual({ code: 0, output: expect.not.stringContaining('varve serve:') });
  },
);

it('refuses a second process on one data directory, and names the first', async () => {
  const server = await startForTest();
  const second = spawnVarve([
    'serve',
    '--content-types',
    CONFORMANCE_SCHEMA,
    '--data',
    server.data,
    '--port',
    '0',
  ]);
  const exit = await second.exited;
  expect(exit.code).toBe(1);
  expect(exit.output).toMatch(/^varve serve: the data directory .* is in use by process \d+/);
  expect((await fetch(`${server.url}/_health`)).status).toBe(204);
});

it('refuses an address beyond loopback and changes nothing', async () => {
  const args = ['--content-types', CONFORMANCE_SCHEMA, '--data', '/nowhere/data', '--host', '0.0.0.0'];
  const exit = await spawnVarve(['serve', ...args]).exited;
  expect(exit.code).toBe(1);
  expect(exit.output).toContain('--host (VARVE_HOST) "0.0.0.0" is not a loopback address');
});

it('reads settings from the environment, and prefers options', async () => {
  const data = dataForTest();
  const env = {
    VARVE_CONTENT_TYPES: CONFORMANCE_SCHEMA,
    VARVE_DATA: data,
    VARVE_PORT: 'x',
    VARVE_HOST: '127.0.0.1',
  };
  const exit = await spawnVarve(['serve'], env).exited;
  expect(exit.output).toBe(
    'varve serve: invalid settings\n  --port (VARVE_PORT) "x" must be an integer from 0 to 65535\n',
  );
  expect(exit.code).toBe(1);
  const server = await startForTest({ env });
  expect(new URL(server.url).hostname).toBe('127.0.0.1');
});

it('lists every problem of the content types and does not start', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'varve-schema-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const schema = (type: string) =>
    JSON.stringify({
      kind: 'collectionType',
      info: { singularName: 'thing', pluralName: 'things', displayName: 'Thing' },
      attributes: { a: { type }, b: { type: 'relation', relation: 'oneToOne', target: 'api::gone.gone' } },
    });
  writeFileSync(join(folder, 'thing.json'), schema('strnig'));
  writeFileSync(join(folder, 'broken.json'), '{');
  const serve = ['serve', '--content-types', folder, '--data', dataForTest(), '--port', '0'];
  const exit = await spawnVarve([...serve, '--strict-schemas']).exited;
  expect(exit.code).toBe(1);
  const lines = exit.output.trim().split('\n');
  expect(lines[0]).toContain(`the content types in ${folder} cannot be used`);
  expect(lines.some((line) => line.includes('thing.json $.attributes.a'))).toBe(true);
  expect(lines.some((line) => line.includes('broken.json $'))).toBe(true);
  // A start omits attributes that it cannot serve, but it fails for a file that is not JSON.
  const lenient = await spawnVarve(serve).exited;
  expect(lenient.code).toBe(1);
  expect(lenient.output).toContain('broken.json $');
  expect(lenient.output).not.toContain('thing.json');
});

it('writes the examples on the first start only', takesMinutes('examples over restarts'), async () => {
  const options = { contentTypes: 'examples/restaurants', arguments: ['--examples'] };
  const first = await startForTest(options);
  expect(first.output()).toMatch(/\(\d+ example documents were written\)/);
  const total = async (url: string) => {
    const answer = await fetch(`${url}/api/countries`);
    return ((await answer.json()) as { meta: { pagination: { total: number } } }).meta.pagination.total;
  };
  const countries = await total(first.url);
  expect(countries).toBeGreaterThan(3);
  const list = (await (await fetch(`${first.url}/api/countries`)).json()) as {
    data: { documentId: string }[];
  };
  for (const { documentId } of list.data)
    await fetch(`${first.url}/api/countries/${documentId}`, { method: 'DELETE' });
  expect(await total(first.url)).toBe(0);
  expect((await first.stop()).code).toBe(0);
  const second = await startForTest({ ...options, data: first.data });
  expect(second.output()).not.toContain('example documents');
  expect(await total(second.url)).toBe(0);
});

it(
  'ends when the examples cannot be written, saying which',
  takesMinutes('examples that cannot be written'),
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'varve-examples-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const schema = {
      kind: 'collectionType',
      info: { singularName: 'thing', pluralName: 'things', displayName: 'Thing' },
      attributes: { count: { type: 'integer' } },
    };
    writeFileSync(join(folder, 'thing.json'), JSON.stringify(schema));
    mkdirSync(join(folder, 'entries'));
    const entry = { type: 'thing', key: 'a', state: 'live', data: { count: 'many' } };
    writeFileSync(join(folder, 'entries', 'things.jsonl'), JSON.stringify(entry));
    const args = ['--content-types', folder, '--data', dataForTest(), '--port', '0', '--examples'];
    const exit = await spawnVarve(['serve', ...args]).exited;
    expect(exit.code).toBe(1);
    expect(exit.output).toMatch(/POST \/api\/things was answered 400/);
  },
);
