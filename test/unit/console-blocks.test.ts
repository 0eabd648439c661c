import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blockRows, newRow, withKind, withText } from '../../services/console/browser/block-rows.ts';
import { type BlockNode, inlineText, parseInline } from '../../services/console/browser/blocks-text.ts';
import { inputOfScalar, problemOfScalar, textOfScalar } from '../../services/console/browser/scalar-text.ts';

const MARKS = ['bold', 'italic', 'underline', 'strikethrough', 'code'];
/** Texts of signs and letters, because signs next to each other are what a text with marks can get wrong. */
const words = fc.string({ unit: fc.constantFrom(...'ab*_~`[]()\\ é'), minLength: 1, maxLength: 8 });
const textNode = fc.record({ text: words, marks: fc.subarray(MARKS) }).map(
  ({ text, marks }): BlockNode => ({
    type: 'text',
    text,
    ...Object.fromEntries(marks.map((mark) => [mark, true])),
  }),
);
const link = fc
  .record({
    url: fc.constantFrom('https://a.example/x?y=1', '/own'),
    children: fc.array(textNode, { minLength: 1, maxLength: 2 }),
  })
  .map((rest): BlockNode => ({ type: 'link', ...rest }));
const inline = fc.array(fc.oneof(textNode, link), { minLength: 1, maxLength: 5 });

/** Returns the texts with their marks, without saying how they are divided. */
function characters(nodes: readonly BlockNode[], url = ''): readonly string[] {
  return nodes.flatMap((node) =>
    node.type === 'link'
      ? characters(node['children'] as BlockNode[], String(node['url']))
      : [...String(node['text'])].map((each) => `${each} ${MARKS.filter((mark) => node[mark])} ${url}`),
  );
}

describe('blocks as texts with marks', () => {
  it('mean the same texts, marks and links again', () => {
    let written = 0;
    fc.assert(
      fc.property(inline, (nodes) => {
        const text = inlineText(nodes);
        if (text === undefined) return;
        written++;
        expect(characters(parseInline(text))).toEqual(characters(nodes));
      }),
      { numRuns: 500 },
    );
    // Almost every text can be written with marks.
    expect(written).toBeGreaterThan(400);
  });

  it('read what a person types', () => {
    expect(parseInline('a **b** \\*c\\* [d](https://d.example)')).toEqual([
      { type: 'text', text: 'a ' },
      { type: 'text', text: 'b', bold: true },
      { type: 'text', text: ' *c* ' },
      { type: 'link', url: 'https://d.example', children: [{ type: 'text', text: 'd' }] },
    ]);
  });

  it('keep every block as it is until it is edited, and other members of an edited one', () => {
    const image = {
      type: 'image',
      image: { url: '/a.png', name: 'a' },
      children: [{ type: 'text', text: '' }],
    };
    const nested = {
      type: 'list',
      format: 'unordered',
      children: [
        { type: 'list-item', children: [{ type: 'text', text: 'one' }] },
        {
          type: 'list',
          format: 'ordered',
          indentLevel: 1,
          children: [{ type: 'list-item', children: [{ type: 'text', text: 'two' }] }],
        },
      ],
    };
    const unknown = { type: 'paragraph', children: [{ type: 'text', text: 'x', colour: 'red' }] };
    const code = { type: 'code', language: 'js', children: [{ type: 'text', text: 'a * b' }] };
    const blocks = [image, nested, unknown, code];
    const rows = blockRows(blocks);
    expect(rows.map(({ node }) => node)).toEqual(blocks);
    expect(rows.map(({ kind, text }) => [kind, text])).toEqual([
      ['image', ''],
      ['list unordered', '- one\n  1. two'],
      ['json', JSON.stringify(unknown, null, 2)],
      ['code', 'a * b'],
    ]);
    const [, list, json, program] = rows as [never, (typeof rows)[0], (typeof rows)[0], (typeof rows)[0]];
    expect(withText(list, '- one\n  1. two').node).toEqual(nested);
    expect(withText(json, '{').node).toBeUndefined();
    expect(withText(program, 'b').node).toEqual({ ...code, children: [{ type: 'text', text: 'b' }] });
    expect(withKind(withText(newRow('paragraph'), 'T'), 'heading 2').node).toEqual({
      type: 'heading',
      level: 2,
      children: [{ type: 'text', text: 'T' }],
    });
  });
});

describe('values as texts of fields', () => {
  it.each([
    ['string', 'a'],
    ['integer', 3],
    ['biginteger', '9007199254740993'],
    ['decimal', 1.25],
    ['boolean', false],
    ['date', '2026-02-03'],
    ['time', '08:30:00'],
    ['datetime', '2026-02-03T04:05:06.000Z'],
    ['datetime', '2026-02-03T04:05:06.789Z'],
    ['json', { a: [1, null] }],
    ['json', 'text'],
    ['string', null],
  ])('%s %j is the same value again', (type, value) => {
    const attribute = { type };
    expect(inputOfScalar(attribute, textOfScalar(attribute, value))).toEqual(value);
  });

  it('omit an empty password, and name malformed texts', () => {
    expect(inputOfScalar({ type: 'password' }, '')).toBeUndefined();
    expect(problemOfScalar({ type: 'json' }, '{')).toMatch(/^This is not JSON: /);
    expect(problemOfScalar({ type: 'float' }, '1,5')).toBe('"1,5" is not a number');
    expect(problemOfScalar({ type: 'float' }, '1.5')).toBeUndefined();
  });
});
