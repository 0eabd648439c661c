import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createDataDirectory, startServer } from '../support/server.ts';
import { differences } from './same-reads.ts';

/** Creates two content types without drafts, and a relation between them. */
function createTypes(): string {
  const folder = mkdtempSync(join(tmpdir(), 'varve-unversioned-'));
  const toShelf = { type: 'relation', relation: 'manyToOne', target: 'api::shelf.shelf' };
  for (const [name, relations] of [
    ['shelf', {}],
    ['book', { shelf: toShelf }],
  ] as const) {
    mkdirSync(join(folder, name));
    const schema = {
      kind: 'collectionType',
      info: { singularName: name, pluralName: `${name}s`, displayName: name },
      options: { draftAndPublish: false },
      attributes: { name: { type: 'string' }, ...relations },
    };
    writeFileSync(join(folder, name, 'schema.json'), JSON.stringify(schema));
  }
  return folder;
}

it('copies relations between types without drafts, for both worlds', { timeout: 300_000 }, async () => {
  const contentTypes = createTypes();
  const data = createDataDirectory();
  const source = await startServer({ contentTypes });
  const create = async (type: string, values: object) => {
    const response = await fetch(`${source.url}/api/${type}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ data: values }),
    });
    return ((await response.json()) as { data: { documentId: string } }).data.documentId;
  };
  const shelf = await create('shelfs', { name: 'Fiction' });
  await create('books', { name: 'Emma', shelf });
  const follower = await startServer({
    data,
    contentTypes,
    arguments: ['--follow', source.url, '--follow-interval', '300ms', '--follow-rate', '1000'],
  });
  try {
    const becomesEqual = async () => {
      const differ = () => differences(source.url, follower.url, contentTypes);
      for (let tries = 0; tries < 600 && (await differ()).length > 0; tries++) await delay(50);
      expect(await differ()).toEqual([]);
    };
    await becomesEqual();
    await create('books', { name: 'Persuasion', shelf });
    await becomesEqual();
  } finally {
    await Promise.all([follower, source].map((server) => server.dispose()));
    for (const folder of [data, contentTypes]) rmSync(folder, { recursive: true, force: true });
  }
});
