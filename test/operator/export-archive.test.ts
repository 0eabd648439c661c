import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { archiveFiles, readJsonLines } from '../../services/strapi/archive.ts';
import { createAsk } from '../support/access-client.ts';
import { dataForTest } from '../support/data-for-test.ts';
import { runVarve } from '../support/run-varve.ts';
import { startServer } from '../support/server.ts';
import { ANY_LINE } from '../support/strapi-archive.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { png } from '../support/upload-client.ts';

/** Export of the conformance corpus by Strapi 5.54. */
const CORPUS = join(import.meta.dirname, '../support/archives/strapi-5.54-export.tar.gz');
const folder = mkdtempSync(join(tmpdir(), 'varve-exports-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function succeed(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runVarve(args);
  expect(code, stdout + stderr).toBe(0);
  return stdout;
}

type Line = {
  readonly kind?: string;
  readonly type: string;
  readonly id: number;
  readonly data: Record<string, unknown>;
  readonly left: {
    readonly type: string;
    readonly field: string;
    readonly ref: number;
    readonly pos?: number;
  };
  readonly right: {
    readonly type: string;
    readonly field?: string;
    readonly ref: number;
    readonly pos?: number;
  };
};

const KEPT_SETTINGS = [
  ...['plugin_i18n_default_locale', 'plugin_users-permissions_advanced', 'plugin_users-permissions_email'],
];

/** Returns the lines of the parts of an archive, and the bytes of its assets. */
async function partsOf(file: string) {
  const parts: Record<'entities' | 'links' | 'configuration' | 'schemas', Line[]> = {
    ...{ entities: [], links: [], configuration: [], schemas: [] },
  };
  const assets = new Map<string, Buffer>();
  for await (const entry of archiveFiles({ file })) {
    const part = entry.name.split('/')[0] as keyof typeof parts;
    if (part in parts)
      for await (const line of readJsonLines(entry, ANY_LINE)) parts[part].push(line as Line);
    else assets.set(entry.name, Buffer.concat(await Array.fromAsync(entry.content)));
  }
  return { ...parts, assets };
}

it('exports the same archive that it imported from Strapi', { timeout: 300_000 }, async () => {
  const data = dataForTest();
  await succeed('import', CORPUS, '--data', data);
  const file = join(folder, 'corpus.tar.gz');
  expect(await succeed('export', '--strapi', file, '--data', data)).toContain('483 rows');
  const [before, after] = [await partsOf(CORPUS), await partsOf(file)];
  const isContent = ({ type }: Line) => type.startsWith('api::') || type === 'plugin::users-permissions.user';
  const rows = ({ entities }: typeof before) =>
    new Map(entities.filter(isContent).map((row) => [`${row.type} ${row.id}`, row.data]));
  for (const [key, row] of rows(before)) expect(rows(after).get(key), key).toEqual(row);
  expect(rows(after).size).toBe(rows(before).size);
  const ids = after.entities.filter(({ type }) => type === 'api::restaurant.restaurant').map(({ id }) => id);
  expect(ids).toEqual(ids.toSorted((one, other) => one - other));
  // The order of each list must be the same at both ends of a relation. The stored positions may be other numbers.
  expect(listsOf(after)).toEqual(listsOf(before));
  const codes = after.entities
    .filter(({ type }) => type === 'plugin::i18n.locale')
    .map((row) => row.data['code']);
  expect(codes).toEqual(['en', 'de', 'fr']);
  const settings = ({ configuration }: typeof before) =>
    Object.fromEntries(
      configuration.flatMap((line) => {
        const { key, value } = (
          line as unknown as { readonly value: { readonly key: string; readonly value: unknown } }
        ).value;
        return KEPT_SETTINGS.includes(key) ? [[key, value]] : [];
      }),
    );
  expect(Object.keys(settings(after))).toHaveLength(KEPT_SETTINGS.length);
  expect(settings(after)).toEqual(settings(before));
  const again = await runVarve(['export', '--strapi', file, '--data', data]);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('exists already')]);
});

/**
 * Returns the targets of each `<owner> <field>`, and the owners of each `<target> <field>`, in order. Drafts and published rows are
 * separate, since no answer mixes them. If positions are equal, the first line counts.
 */
function listsOf({
  links,
  entities,
}: {
  readonly links: readonly Line[];
  readonly entities: readonly Line[];
}) {
  const drafts = new Set(
    entities.filter(({ data }) => data['publishedAt'] === null).map(({ type, id }) => `${type} ${id}`),
  );
  const lists = new Map<string, [position: number, name: string][]>();
  const add = (list: string, position: number | undefined, name: string) =>
    lists.set(list, [...(lists.get(list) ?? []), [position ?? 0, name]]);
  for (const { left, right } of links) {
    if (left.field === 'localizations' || left.type.includes('permission')) continue;
    const [owner, target] = [`${left.type} ${left.ref}`, `${right.type} ${right.ref}`];
    add(`${owner} ${left.field} ${drafts.has(target)}`, left.pos, target);
    if (right.field !== undefined && right.pos !== undefined)
      add(`${target} ${right.field} ${drafts.has(owner)}`, right.pos, owner);
  }
  const ordered = [...lists].map(([list, entries]) => {
    const names = entries.sort(([one], [other]) => one - other).map(([, name]) => name);
    return [list, names] as const;
  });
  return new Map(ordered.sort(([one], [other]) => (one < other ? -1 : 1)));
}

it('exports uploads with their bytes, rights and locales, and names users whose passwords Strapi cannot check', {
  ...takesMinutes('exports of uploads'),
  timeout: 300_000,
}, async () => {
  const server = await startServer({ arguments: ['--public', 'restaurant.find,article.find'] });
  onTestFinished(() => server.dispose());
  const admin = (
    await succeed('token', 'create', '--name', 'all', '--type', 'full-access', '--data', server.data)
  ).trim();
  const ask = createAsk(server.url, admin);
  const picture = png(3, 2);
  const form = new FormData();
  form.append('files', new Blob([picture]), 'sun.png');
  const { body: uploaded } = await ask('/api/upload', { method: 'POST', body: form });
  const write = (path: string, body: object) => ask(path, { method: 'POST', body });
  const data = { key: 'a', name: 'Da Ada', gallery: [uploaded[0].id], kind: 'diner' };
  expect((await write('/api/restaurants?status=draft', { data })).status).toBe(201);
  await write('/api/articles?locale=pt-BR', { data: { key: 'b', title: 'Olá' } });
  const user = { username: 'ada', email: 'ada@example.org', password: 'secret1', role: 1 };
  expect((await write('/api/users', user)).status).toBe(201);

  const file = join(folder, 'uploads.tar.gz');
  const said = await succeed('export', '--strapi', file, '--data', server.data);
  expect(said).toContain('these users need a new password in Strapi, which only checks bcrypt: ada');
  const { entities, links, assets } = await partsOf(file);
  const row = (type: string) => entities.filter((line) => line.type === type);
  const [{ data: stored }] = row('plugin::upload.file') as [Line];
  const name = String(stored['url']).replace('/uploads/', '');
  expect(assets.get(`assets/uploads/${name}`)).toEqual(picture);
  expect(`${stored['hash']}${stored['ext']}`).toBe(name);
  expect(links).toContainEqual({
    ...{ kind: 'relation.morph', relation: 'morphToMany' },
    left: { type: 'plugin::upload.file', ref: 1, field: 'related' },
    right: { type: 'api::restaurant.restaurant', ref: 1, field: 'gallery', pos: expect.any(Number) },
  });
  expect(row('plugin::i18n.locale').map((line) => line.data['code'])).toEqual(['en', 'pt-BR']);
  const actions = row('plugin::users-permissions.permission').map((line) => line.data['action']);
  expect(actions).toEqual(
    expect.arrayContaining(['api::restaurant.restaurant.find', 'api::article.article.find']),
  );
  expect(actions).not.toContain('api::chef.chef.find');
});
