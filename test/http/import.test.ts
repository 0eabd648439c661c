import { existsSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { dataForTest } from '../support/data-for-test.ts';
import { CONFORMANCE_SCHEMA, type Exit, spawnVarve, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const FIXTURES = globSync(join(CONFORMANCE_SCHEMA, '../fixtures/*.jsonl')).sort();

function folderForTest(make: () => string): string {
  const folder = make();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function importFiles(data: string, files: readonly string[]): Promise<Exit> {
  return spawnVarve(['import', ...files, '--content-types', CONFORMANCE_SCHEMA, '--data', data]).exited;
}

function fileForTest(lines: readonly string[]): string {
  const folder = folderForTest(() => mkdtempSync(join(tmpdir(), 'varve-import-')));
  const file = join(folder, 'entries.jsonl');
  writeFileSync(file, lines.join('\n'));
  return file;
}

async function answersOf(data: string): Promise<readonly unknown[]> {
  const server = await startServer({ data });
  const paths = [
    '/api/restaurants?sort=key&pagination[pageSize]=100&populate=*',
    '/api/restaurants?status=draft&sort=key&pagination[pageSize]=100&filters[chef][country][continent][name]=Europe',
    '/api/articles?locale=*&sort=key,locale&pagination[pageSize]=100&populate=localizations',
    '/api/users?sort=username',
  ];
  const answers = await Promise.all(paths.map(async (path) => (await fetch(server.url + path)).json()));
  await server.dispose();
  return answers;
}

it('imports documents with references in any direction, drafts, locales and users; a second run changes nothing', async () => {
  const data = dataForTest();
  const first = await importFiles(data, FIXTURES);
  expect(first, first.output).toMatchObject({ code: 0 });
  expect(first.output).toMatch(/^\d+ documents in /m);
  const answers = await answersOf(data);
  // Counted in the fixtures: published restaurants, drafts with a European chef, published articles, users.
  expect(
    answers.map((answer) =>
      Array.isArray(answer)
        ? answer.length
        : (answer as { meta: { pagination: { total: number } } }).meta.pagination.total,
    ),
  ).toEqual([63, 18, 28, 8]);
  expect(JSON.stringify(answers)).not.toContain('Passw0rd');
  expect(await importFiles(data, FIXTURES)).toMatchObject({ code: 0 });
  expect(await answersOf(data)).toEqual(answers);
});

it(
  'names every line that it refuses, imports the others, and accepts the corrected file',
  takesMinutes('imports without keys, and refused lines'),
  async () => {
    const tag = (key: string, more: object = {}) =>
      JSON.stringify({ type: 'tag', key, state: 'live', data: { key, name: key, ...more } });
    const lines = [
      tag('one'),
      '{"type":',
      '',
      tag('two', { weight: 'heavy' }),
      tag('three', { colour: 'red' }),
      tag('four'),
      '{"type":{"toString":1},"key":"five","state":"live","data":{}}',
    ];
    const data = dataForTest();
    const file = fileForTest(lines);
    const exit = await importFiles(data, [file]);
    expect(exit.code).toBe(1);
    expect(exit.output).toContain('2 documents in');
    const refused = exit.output.split('\n').filter((line) => line.startsWith(`  ${file}:`));
    expect(refused.map((line) => line.slice(file.length + 3).split(': ')[0])).toEqual(['2', '4', '5', '7']);
    writeFileSync(file, [tag('one'), tag('zwei'), '', tag('two'), tag('three'), tag('four')].join('\n'));
    const again = await importFiles(data, [file]);
    expect(again, again.output).toMatchObject({ code: 0 });
    const server = await startServer({ data });
    const list = (await (await fetch(`${server.url}/api/tags?sort=key`)).json()) as {
      data: { key: string }[];
    };
    expect(list.data.map(({ key }) => key)).toEqual(['four', 'one', 'three', 'two', 'zwei']);
    await server.dispose();
  },
);

it(
  'links lines with a documentId of their own, in either order, by the name of a type or its uid',
  takesMinutes('references between imported lines'),
  async () => {
    const id = (letter: string) => letter.padEnd(24, '1');
    const line = (type: string, key: string, data: object, documentId?: string) =>
      JSON.stringify({ type, key, state: 'live', ...(documentId && { documentId }), data: { key, ...data } });
    const country = (key: string, ref: string) =>
      line('country', key, { name: key, continent: { $ref: ref } });
    const data = dataForTest();
    const exit = await importFiles(data, [
      fileForTest([
        country('a', 'continent:own'),
        line('continent', 'own', { name: 'Own' }, id('o')),
        line('api::continent.continent', 'made', { name: 'Made' }),
        country('b', 'api::continent.continent:own'),
        country('c', 'api::continent.continent:made'),
        country('d', 'continent:made'),
      ]),
    ]);
    expect(exit, exit.output).toMatchObject({ code: 0 });
    const server = await startServer({ data });
    onTestFinished(() => server.dispose());
    const found = await fetch(`${server.url}/api/countries?sort=key&populate=continent`);
    const { data: countries } = (await found.json()) as {
      data: { continent: { key: string; documentId: string } }[];
    };
    expect(countries.map(({ continent }) => continent?.key)).toEqual(['own', 'own', 'made', 'made']);
    expect(countries[0]?.continent.documentId).toBe(id('o'));
  },
);

it(
  'answers 404 for the URL of an imported file that has no content',
  takesMinutes('imported files without content'),
  async () => {
    const values = {
      name: 'a.png',
      hash: 'a_1',
      ext: '.png',
      mime: 'image/png',
      size: 1,
      url: '/uploads/a_1.png',
    };
    const file = {
      type: 'plugin::upload.file',
      key: 'a',
      state: 'live',
      data: { ...values, provider: 'local' },
    };
    const data = dataForTest();
    expect(await importFiles(data, [fileForTest([JSON.stringify(file)])])).toMatchObject({ code: 0 });
    const server = await startServer({ data });
    onTestFinished(() => server.dispose());
    expect((await fetch(`${server.url}/uploads/a_1.png`)).status).toBe(404);
    expect((await fetch(`${server.url}/api/upload/files/1`, { method: 'DELETE' })).status).toBe(200);
  },
);

it(
  'refuses a line that differs from the document that it made before',
  takesMinutes('imported lines that changed'),
  async () => {
    const data = dataForTest();
    const line = (name: string) =>
      JSON.stringify({ type: 'tag', key: 't', state: 'live', data: { key: 't', name } });
    const file = fileForTest([line('first')]);
    expect(await importFiles(data, [file])).toMatchObject({ code: 0 });
    writeFileSync(file, line('second'));
    const exit = await importFiles(data, [file]);
    expect(exit.code).toBe(1);
    expect(exit.output).toContain(`${file}:1: the document exists and differs from this line`);
  },
);

it('a missing file is reported in one sentence', async () => {
  const exit = await importFiles(dataForTest(), ['/nowhere.jsonl']);
  expect(exit.code).toBe(1);
  expect(exit.output).toContain('varve import: ENOENT: no such file or directory');
});

it(
  'makes a new document of a line without a key, once in repeated imports, and published without a state',
  takesMinutes('imports without keys, and refused lines'),
  async () => {
    const data = dataForTest();
    const items = [
      { type: 'tag', data: { key: 'a', name: 'a' } },
      { type: 'tag', key: 'b', data: { key: 'b', name: 'b' } },
      { type: 'chef', state: 'draft', data: { name: 'twin' } },
      { type: 'chef', state: 'draft', data: { name: 'twin' } },
      { type: 'chef', data: { key: 'public', name: 'public' } },
      { type: 'chef', data: { key: 'modified', name: 'out' }, draft: { name: 'in work' } },
      { type: 'chef', data: { key: 'live' }, state: 'live' },
    ];
    // The file of a program on Windows.
    const file = fileForTest([`\ufeff ${JSON.stringify(items, null, 2)}`]);
    const rehearsal = await spawnVarve([
      ...['import', file, '--dry-run', '--content-types', CONFORMANCE_SCHEMA, '--data', data],
    ]).exited;
    expect(rehearsal).toMatchObject({ code: 1 });
    expect(rehearsal.output).toMatch(/^6 documents in .* would be imported; nothing was written$/m);
    expect(rehearsal.output).toMatch(/^live \{"id":1,"documentId":"\w{24}","key":"a","name":"a",/m);
    expect(rehearsal.output.match(/^published \{/gm)).toHaveLength(2);
    expect(rehearsal.output.match(/^draft \{/gm)).toHaveLength(4);
    expect(existsSync(join(data, 'events.db'))).toBe(false);
    for (const _ of ['first', 'again']) {
      const exit = await importFiles(data, [file]);
      expect(exit.output).toContain(`${file}:7: state: live does not fit a type with draft & publish`);
    }
    const server = await startServer({ data });
    onTestFinished(() => server.dispose());
    const names = async (query: string) => {
      const answer = (await (await fetch(`${server.url}/api/chefs?sort=id&${query}`)).json()) as {
        readonly data: readonly { readonly name: string }[];
      };
      return answer.data.map(({ name }) => name);
    };
    expect(await names('')).toEqual(['public', 'out']);
    expect(await names('status=draft')).toEqual(['twin', 'twin', 'public', 'in work']);
  },
);

it('names an array that is not JSON', takesMinutes('a broken array'), async () => {
  const file = fileForTest(['[{"type":"tag"},', '{']);
  const exit = await importFiles(dataForTest(), [file]);
  expect(exit).toMatchObject({ code: 1 });
  expect(exit.output).toContain(`${file} is not a JSON array: `);
});

it('imports CSV files without a server and by one, and names their lines and columns', {
  timeout: 300_000,
}, async () => {
  const data = dataForTest();
  const file = join(
    folderForTest(() => mkdtempSync(join(tmpdir(), 'varve-import-'))),
    'Restaurants.CSV',
  );
  const rows = ['key,name,stars,open,foundedOn,extra,state', 'a,"Ä, b",3,true,1999-12-31,"{""x"":1}",draft'];
  writeFileSync(file, [...rows, 'b,,,,,,', 'c,,many,maybe,,{,'].join('\r\n'));
  const run = (...options: readonly string[]) =>
    spawnVarve(['import', file, '--content-types', CONFORMANCE_SCHEMA, '--data', data, ...options]).exited;
  const untyped = await run();
  expect(untyped.code).toBe(1);
  expect(untyped.output).toContain(`${file} needs --type with the content type of its rows`);
  const rehearsal = await run('--type', 'api::restaurant.restaurant', '--dry-run');
  expect(rehearsal.code).toBe(1);
  expect(rehearsal.output).toMatch(/^2 documents in .* would be imported; nothing was written$/m);
  expect(rehearsal.output).toMatch(/^draft .*"name":"Ä, b".*"stars":3.*"foundedOn":"1999-12-31"/m);
  for (const column of ['stars', 'open', 'extra'])
    expect(rehearsal.output).toContain(`${file}:4: ${column} `);
  expect(existsSync(join(data, 'events.db'))).toBe(false);
  const first = await run('--type', 'restaurant');
  expect(first.output).toContain('2 documents in ');
  expect(first.output).toContain(`${file}:4: stars `);
  const server = await startServer({ data });
  onTestFinished(() => server.dispose());
  writeFileSync(file, [...rows, 'b,,,,,,', 'c,,5,1,,"[]",'].join('\r\n'));
  const again = await run('--type', 'restaurant');
  expect(again, again.output).toMatchObject({ code: 0 });
  const answers = async (status: string) => {
    const query = `status=${status}&sort=key&fields=key,name,stars,open,foundedOn,extra`;
    return ((await (await fetch(`${server.url}/api/restaurants?${query}`)).json()) as { data: unknown }).data;
  };
  const row = { name: null, stars: null, open: null, foundedOn: null, extra: null };
  expect(await answers('draft')).toMatchObject([
    { key: 'a', name: 'Ä, b', stars: 3, open: true, foundedOn: '1999-12-31', extra: { x: 1 } },
    { key: 'b', ...row },
    { key: 'c', ...row, stars: 5, open: true, extra: [] },
  ]);
  expect(await answers('published')).toMatchObject([{ key: 'b' }, { key: 'c' }]);
});
