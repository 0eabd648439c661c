import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ImportTarget, openImportTarget } from '../fuzz/import-target.ts';
import type { LinesInput } from '../fuzz/line-inputs.ts';
import { makeProject } from '../support/odd-archives.ts';

/** Inputs that the fuzzer of imports has found. */
let target: ImportTarget;
beforeAll(async () => {
  target = await openImportTarget();
});
afterAll(() => target?.close());

const lines = (name: string, text: string, rows: number, type?: string): LinesInput => ({
  ...{ kind: 'lines', members: [[name, Buffer.from(text)]], isFolder: false, rows },
  ...(type && { type }),
});
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const tag = (weight: string) => `{"type":"tag","data":{"key":"t","weight":${weight}}}`;

it.each([101, 3_000, 100_000])(
  'a line of %i levels is refused, and the others are imported',
  async (levels) => {
    const [deep, flat] = [tag(nested(levels)), tag('1')];
    for (const input of [
      lines('a.jsonl', `${deep}\n${flat}`, 2),
      lines('a.json', `[${deep},${flat}]`, 2),
      lines('a.csv', `content\n${nested(levels)}\n`, 1, 'restaurant'),
    ])
      expect(await target.faultOf(input, false)).toBeUndefined();
  },
);

it('a value in a dynamic zone that names no component is omitted with that reason', async () => {
  const { content } = makeProject(5, 'nothing');
  const [row] = content.entities.filter(({ type }) => type === 'api::article.article');
  const deep = JSON.parse(nested(3_000));
  const zone = [{ toString: 1 }, deep, 7, null].map((name, at) => ({ id: 100 + at, __component: name }));
  const lines = [...content.entities, { ...row, id: 9, data: { ...row?.data, locale: 'de', zone } }];
  const member = (part: string, values: readonly object[]) =>
    [
      `${part}/${part}_00001.jsonl`,
      Buffer.from(values.map((value) => JSON.stringify(value)).join('\n')),
    ] as const;
  const members = [
    member('schemas', content.schemas),
    member('entities', lines),
    ['metadata.json', Buffer.from('{}')] as const,
  ];
  const input = { kind: 'archive', members, isFolder: true, rows: lines.length } as const;
  expect(await target.faultOf(input, true)).toBeUndefined();
});
