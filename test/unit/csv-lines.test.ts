import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { csvLines } from '../../services/transfer/csv-lines.ts';
import { loadContentTypes } from '../../shared/schema/load-content-types.ts';
import { contentTypeOf } from '../../shared/schema/schema-registry.ts';
import { CONFORMANCE_SCHEMA } from '../support/server.ts';

const loaded = loadContentTypes(CONFORMANCE_SCHEMA);
if (loaded.kind === 'problems') throw new Error(JSON.stringify(loaded.problems));
const { registry } = loaded;

const folder = mkdtempSync(join(tmpdir(), 'varve-csv-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'rows.csv');

async function linesOf(type: string, content: string | Buffer) {
  writeFileSync(file, content);
  const lines = await Array.fromAsync(csvLines(file, contentTypeOf(registry, `api::${type}.${type}`)));
  return lines.map((line) => ({
    number: line.number,
    ...('reasons' in line ? { reasons: line.reasons } : { line: JSON.parse(line.text) }),
  }));
}

const failureOf = (type: string, content: string | Buffer) =>
  linesOf(type, content).then(
    () => 'no failure',
    ({ message }: Error) => message.replaceAll(file, 'rows.csv'),
  );

describe('rows of a CSV file', () => {
  it('are lines whose empty cells are absent, with quotes, line breaks in cells, any line end and a byte order mark', async () => {
    const rows = '\ufeffkey,"name", stars \r\n"a, ""b""","two\r\nlines",5\n\n,,\nc,,\r"d",é,0';
    const country = { type: 'api::restaurant.restaurant' };
    expect(await linesOf('restaurant', rows)).toEqual([
      { number: 2, line: { ...country, data: { key: 'a, "b"', name: 'two\r\nlines', stars: '5' } } },
      { number: 6, line: { ...country, data: { key: 'c' } } },
      { number: 7, line: { ...country, data: { key: 'd', name: 'é', stars: '0' } } },
    ]);
  });

  it('name their document, its locale and its state; an attribute of the same name comes first', async () => {
    const id = 'a'.padEnd(24, '1');
    const rows = [
      'key,documentId,locale,state,title',
      `k,${id},en,,One`,
      `l,${id},de,draft,Eins`,
      `m,${id},de,draft,Zwei`,
      'n,,fr,,Un',
      'o,,,,Two',
    ];
    const article = { type: 'api::article.article' };
    const variant = (key: string, title: string, state?: string) => ({
      ...(state && { state }),
      data: { key, title },
    });
    expect(await linesOf('article', rows.join('\n'))).toEqual([
      {
        number: 2,
        line: {
          ...article,
          documentId: id,
          locales: { en: variant('k', 'One'), de: variant('l', 'Eins', 'draft') },
        },
      },
      { number: 4, line: { ...article, documentId: id, locales: { de: variant('m', 'Zwei', 'draft') } } },
      { number: 5, line: { ...article, locales: { fr: variant('n', 'Un') } } },
      { number: 6, line: { ...article, data: { key: 'o', title: 'Two' } } },
    ]);
  });

  it('keep text for the casts of the API, and have JSON in blocks', async () => {
    const rows = 'open,extra,content\nTRUE,"{""a"":[1]}","[{""type"":""paragraph""}]"\n,,not JSON\n';
    expect((await linesOf('restaurant', rows)).map((row) => ('line' in row ? row.line.data : row))).toEqual([
      { open: 'TRUE', extra: '{"a":[1]}', content: [{ type: 'paragraph' }] },
      { content: 'not JSON' },
    ]);
  });

  it('are refused with their line and column', async () => {
    const rows = 'name,foundedOn,opensAt,inspectedAt\na,b,c,d\nb\nc,,,,\n"d\ne",2020-02-30,,\n';
    expect(await linesOf('restaurant', rows)).toEqual([
      {
        number: 2,
        reasons: [
          expect.stringMatching(/^foundedOn: Invalid/),
          expect.stringMatching(/^opensAt: Invalid/),
          expect.stringMatching(/^inspectedAt: Invalid/),
        ],
      },
      { number: 3, reasons: ['the row has 1 cells, and the header has 4'] },
      { number: 4, reasons: ['the row has 5 cells, and the header has 4'] },
      { number: 5, reasons: [expect.stringMatching(/^foundedOn: /)] },
    ]);
  });
});

describe('a CSV file is refused', () => {
  it.each([
    ['a,"b\nc', 'rows.csv:1: the row has a quote that is not closed'],
    ['key\nb "x"\n', /^rows\.csv:2: the row has a quote inside a cell/],
    ['key\n"b"x\n', /^rows\.csv:2: the row has a quote inside a cell/],
    ['', 'rows.csv has no header: its first line names the columns'],
    [`key\n"${'x'.repeat(17 * 1024 * 1024)}`, /^rows\.csv:2: the row has more than 16777216 bytes/],
    [Buffer.from('key\nCaf\xe9\n', 'latin1'), 'rows.csv is not UTF-8: save it as CSV in UTF-8'],
  ])('that is not CSV', async (content, message) => {
    expect(await failureOf('tag', content)).toMatch(message);
  });

  it('that does not exist', async () => {
    const lines = csvLines(join(folder, 'nothing.csv'), contentTypeOf(registry, 'api::tag.tag'));
    await expect(lines.next()).rejects.toThrow(/ENOENT/);
  });

  it('whose columns the type does not have, with the list of its columns', async () => {
    const header = 'key,colour,key,logo,chef,address,sections,hours,,id';
    expect(await failureOf('restaurant', header)).toBe(
      [
        'rows.csv:1: unknown column colour',
        'the column key is there twice',
        'logo is a media attribute, which a cell cannot have: write JSON lines',
        'chef is a relation, which a cell cannot have: write JSON lines',
        'address is a component, which a cell cannot have: write JSON lines',
        'sections is a dynamic zone, which a cell cannot have: write JSON lines',
        'hours is a component, which a cell cannot have: write JSON lines',
        'unknown column without a name',
        'unknown column id',
        'the columns of api::restaurant.restaurant are key, documentId, locale, state, name, description, story, content, email, slug, kind, stars, visits, price, rating, open, foundedOn, opensAt, inspectedAt, extra, secretPin, internalNote',
      ].join('; '),
    );
    expect(await failureOf('tag', 'key;name\na;b')).toMatch(
      /^rows\.csv:1: the columns key;name are not separated by commas; the columns of api::tag\.tag are /,
    );
  });
});
