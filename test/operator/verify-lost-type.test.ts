import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { askOnce } from '../support/ask-once.ts';
import { writePageTypes } from '../support/page-types.ts';
import { runVarve } from '../support/run-varve.ts';
import { createDataDirectory, startServer } from '../support/server.ts';

it('compares a type without a file, whose relation the owner has lost', async () => {
  const contentTypes = writePageTypes();
  const data = createDataDirectory();
  onTestFinished(() => {
    for (const folder of [contentTypes, data]) rmSync(folder, { recursive: true, force: true });
  });
  const first = await startServer({ contentTypes, data });
  const create = async (path: string, entry: object): Promise<string> => {
    const { text } = await askOnce(`${first.url}/api/${path}`, 'POST', JSON.stringify({ data: entry }));
    return (JSON.parse(text) as { data: { documentId: string } }).data.documentId;
  };
  await create('pages', { title: 'one', topics: [await create('topics', { name: 'news' })] });
  await first.stop();
  // Pages lose the relation, and topics keep their definition with the inverse side.
  rmSync(join(contentTypes, 'api/topic'), { recursive: true });
  const lost = ['--accept-loss', 'api::topic.topic,api::page.page.topics'];
  const second = await startServer({ contentTypes, data, arguments: lost });
  onTestFinished(() => second.dispose());
  const { code, stdout, stderr } = await runVarve(['verify', '--data', data]);
  expect(code, stderr).toBe(0);
  expect(stdout).toContain('no differences');
}, 300_000);
