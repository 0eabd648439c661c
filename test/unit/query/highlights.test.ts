import { expect, it } from 'vitest';
import { resolveHighlights } from '../../../services/query/highlights.ts';
import type { Problems } from '../../../services/query/problems.ts';
import { queryModelOf } from '../../../services/query/query-model.ts';
import { parseQueryString } from '../../../services/query/query-string.ts';
import { requestOf } from '../../support/naive-schema.ts';

const { registry, type } = requestOf('');
const model = queryModelOf(registry, type.uid);

/** Returns the attributes that are marked, and the places of problems. */
function resolve(query: string) {
  const problems: Problems = [];
  const plan = resolveHighlights(parseQueryString(query), model, { scope: { registry }, problems });
  return { names: plan?.attributes.map(({ name }) => name), refused: problems.map(({ message }) => message) };
}

it('marks each kind of text, and refuses other attributes', () => {
  const texts = ['name', 'description', 'story', 'content', 'slug', 'kind', 'email'];
  expect(resolve(`highlight=${texts.join(',')}`)).toEqual({ names: texts, refused: [] });
  for (const name of ['stars', 'open', 'foundedOn', 'extra', 'documentId', 'chef'])
    expect(resolve(`highlight=${name}`).refused, name).toHaveLength(1);
});

it('marks at most twenty attributes', () => {
  const tooMany = "Invalid parameter at 'highlight'. Expected at most 20 attributes";
  const names = (count: number) => Array.from({ length: count }, (_, i) => `none${i}`).join(',');
  expect(resolve(`highlight=${names(20)}`).refused).not.toContain(tooMany);
  expect(resolve(`highlight=${names(21)}`).refused).toContain(tooMany);
  expect(resolve(`highlight=${'name,'.repeat(30)}`)).toEqual({ names: ['name'], refused: [] });
});
