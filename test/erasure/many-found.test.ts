import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createApiClient } from '../support/api-client.ts';
import { runVarve } from '../support/run-varve.ts';
import { CONFORMANCE_SCHEMA, createDataDirectory, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Rows that one request finds at most. */
const MOST = 5_000;

it('erases no more than 5,000 found entries with one request', {
  ...takesMinutes('5,001 entries'),
  timeout: 300_000,
}, async () => {
  const data = createDataDirectory();
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const file = join(data, 'tag.jsonl');
  const lines = Array.from({ length: MOST + 1 }, (_, n) =>
    JSON.stringify({ type: 'tag', data: { key: `t${n}`, name: 'many' } }),
  );
  writeFileSync(file, lines.join('\n'));
  const given = ['--data', data, '--content-types', CONFORMANCE_SCHEMA];
  const imported = await runVarve(['import', file, ...given]);
  expect(imported, imported.stderr).toMatchObject({ code: 0 });
  const server = await startServer({ data });
  onTestFinished(() => server.dispose());
  const client = createApiClient(server.url);
  const eraseWhere = () =>
    client.call<{ readonly count: number }>('POST', '/_varve/erasures', {
      data: { type: 'api::tag.tag', where: 'filters[name]=many' },
    });
  expect(await eraseWhere()).toMatchObject({
    status: 400,
    error: { message: 'where matches more than 5000 entries: ask for fewer' },
  });
  const [one] = await client.data<readonly { readonly documentId: string }[]>('GET', '/api/tags');
  await client.call('DELETE', `/api/tags/${one?.documentId}`);
  expect(await eraseWhere()).toMatchObject({ status: 200, data: { count: MOST } });
});
