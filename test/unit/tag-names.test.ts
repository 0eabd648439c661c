import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tagKey } from '../../services/access/derived-keys.ts';
import { lifetimeOf, staleProblems } from '../../services/cli/settings/delivery-settings.ts';
import { purgedHeaders } from '../../services/delivery/lifetimes.ts';
import {
  attributeTag,
  documentTag,
  inverseTag,
  narrowTag,
  ROWS,
  type Tag,
  wordsTag,
} from '../../services/delivery/tag.ts';
import { formOf, TAG_RECEIVERS, type TagReceiver } from '../../services/delivery/tag-headers.ts';
import { createTagNames, type TagNames } from '../../services/delivery/tag-names.ts';
import { createTagging } from '../../services/delivery/tagging.ts';
import { loadContentTypes } from '../../shared/schema/load-content-types.ts';

const loaded = loadContentTypes('examples/restaurants');
if (loaded.kind === 'problems') throw new Error(JSON.stringify(loaded.problems));
const { registry } = loaded;
const key = tagKey(Buffer.from('a key'));
const namesWith = (plain: boolean) => createTagNames({ key, registry, plain });
const names = namesWith(false);
const CHEF = 'api::chef.chef';
const TYPES = [...registry.contentTypes.keys()];
const WIDE = ['fastly', 6_000] as const;
type Form = readonly [receiver: TagReceiver, bytes: number];
const headerOf = (own: TagNames, tags: ReadonlySet<Tag> | undefined, form: Form) =>
  own.answers(formOf(...form))(tags && { fixed: [...tags], documents: [] });
/** Returns the names in a header, parsed like its receiver does. */
function namesOf(own: TagNames, tags: ReadonlySet<Tag> | undefined, form: Form): readonly string[] {
  const { separator, quote } = formOf(...form);
  return headerOf(own, tags, form)
    .split(separator)
    .map((one) => {
      expect([one.at(0) === '"', one.at(-1) === '"']).toEqual(Array(2).fill(quote !== ''));
      return one.slice(quote.length, one.length - quote.length);
    });
}
const overlap = (answer: readonly string[], change: ReadonlySet<string>) =>
  answer.filter((name) => change.has(name));

const documentId = fc.string({ unit: fc.constantFrom(...'abc'), minLength: 1, maxLength: 6 });
const type = fc.constantFrom(...TYPES);
const tag: fc.Arbitrary<Tag> = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(type, documentId).map(([of, id]) => documentTag(of, 'published', id)) },
  fc
    .tuple(type, documentId)
    .map(([of, id]) => inverseTag(of, 'published', id, { type: CHEF, attribute: 'restaurants' })),
  fc.tuple(type, fc.constantFrom(ROWS, 'name')).map(([of, name]) => attributeTag(of, 'published', name)),
  type.map((of) => attributeTag(of, 'draft', ROWS)),
  fc
    .tuple(type, documentId)
    .map(([of, id]) => narrowTag(of, 'published', { field: 'slug', value: `a ${id}` }, 'name')),
  type.map(wordsTag),
);

describe.each(Object.keys(TAG_RECEIVERS) as TagReceiver[])('tags for %s', (receiver) => {
  const answers = fc.uniqueArray(tag, { minLength: 1, maxLength: 900 });
  it.each([false, true])(
    'are within the limit, and share a name with every change of a tag (plain names: %s)',
    (plain) => {
      const own = namesWith(plain);
      const check = (tags: readonly Tag[], bytes: number) => {
        const collected = new Set(tags);
        const answer = namesOf(own, collected, [receiver, bytes]);
        expect(namesOf(own, collected, [receiver, bytes])).toEqual(answer);
        expect(answer.length).toBeLessThanOrEqual(TAG_RECEIVERS[receiver].tags);
        expect(headerOf(own, collected, [receiver, bytes]).length).toBeLessThanOrEqual(bytes);
        expect(new Set(answer).size).toBe(answer.length);
        for (const one of tags) expect(overlap(answer, own.ofChange([one])), one).not.toEqual([]);
      };
      fc.assert(fc.property(answers, fc.integer({ min: 60, max: 6_000 }), check), { numRuns: 30 });
    },
  );
});

const documents = (count: number) =>
  new Set(Array.from({ length: count }, (_, i) => documentTag(CHEF, 'published', `a${i}`.padEnd(24, 'x'))));

it.each([
  ['cloudfront', 50],
  ['akamai', 128],
  ['rfc9875', 128],
  ['netlify', 500],
] as const)('makes tags for %s coarse from one more than %i on', (receiver, most) => {
  const form = [receiver, 65_536] as const;
  expect(namesOf(names, documents(most - 1), form)).toHaveLength(most);
  expect(namesOf(names, documents(most), form)).toHaveLength(2);
});

it.each([
  ['varnish', 6_144, 6_144],
  ['akamai', 700, 700],
  ['fastly', 65_536, 16_384],
  ['cloudflare', 65_536, 16_384],
] as const)('fills a header for %s of %i bytes up to %i bytes', (receiver, bytes, most) => {
  const plain = namesWith(true);
  const lengthOf = (count: number) => headerOf(plain, documents(count), [receiver, bytes]).length;
  const isFine = (count: number) => count < 2 || lengthOf(count) > 60;
  let [fine, coarse] = [0, 480];
  while (coarse - fine > 1) {
    const middle = Math.floor((fine + coarse) / 2);
    if (isFine(middle)) fine = middle;
    else coarse = middle;
  }
  expect(lengthOf(fine)).toBeLessThanOrEqual(most);
  // The names of one more document would not have fit.
  expect(lengthOf(fine)).toBeGreaterThan(most - 60);
  expect(isFine(coarse)).toBe(false);
});

it('gives a document no plain tag that a receiver would drop', () => {
  const plain = namesWith(true);
  const named = (id: string) => namesOf(plain, new Set([documentTag(CHEF, 'published', id)]), WIDE);
  const [fits, long] = ['x'.repeat(128 - 'chefs:'.length), 'x'.repeat(129 - 'chefs:'.length)];
  expect(named(fits)).toContain(`chefs:${fits}`);
  expect(
    named(long)
      .map(({ length }) => length)
      .every((length) => length <= 10),
  ).toBe(true);
  expect(named(long)).toContain('chefs');
  expect([...plain.ofChange([documentTag(CHEF, 'published', long)])]).not.toContain(`chefs:${long}`);
});

it('does not change an answer when a write changes none of its tags', () => {
  const answer = namesOf(names, new Set([documentTag(CHEF, 'published', 'a')]), WIDE);
  expect(overlap(answer, names.ofChange([documentTag(CHEF, 'published', 'b')]))).toEqual([]);
  expect(overlap(answer, names.ofChange([documentTag(CHEF, 'draft', 'a')]))).toEqual([]);
});

it('uses one coarser tag for the documents of one type, and keeps the other tags', () => {
  const few = documentTag('api::city.city', 'published', 'rome');
  const many = Array.from({ length: 100 }, (_, i) => documentTag(CHEF, 'published', `chef${i}`));
  const answer = namesOf(names, new Set([few, ...many]), ['cloudfront', 6_000]);
  expect(answer).toHaveLength(3);
  expect(overlap(answer, names.ofChange([documentTag(CHEF, 'published', 'another')]))).toHaveLength(1);
  expect(overlap(answer, names.ofChange([few]))).toHaveLength(1);
  expect(overlap(answer, names.ofChange([documentTag('api::city.city', 'published', 'oslo')]))).toEqual([]);
});

it('gives an answer that any change may affect a tag that every change has', () => {
  expect(overlap(namesOf(names, undefined, WIDE), names.ofChange([]))).toEqual([names.everything]);
  expect(namesOf(names, undefined, WIDE)).toContain(names.generation);
});

it('reveals no content, and depends on the key', () => {
  const tags = new Set([documentTag(CHEF, 'published', 'a'), attributeTag(CHEF, 'published', 'secret')]);
  const answer = namesOf(names, new Set(tags), WIDE);
  for (const name of answer) expect(name).toMatch(/^[a-z0-9]{1,10}$/);
  expect(namesOf(createTagNames({ key, registry, plain: false }), new Set(tags), WIDE)).toEqual(answer);
  const other = createTagNames({ key: tagKey(key), registry, plain: false });
  expect(overlap(namesOf(other, new Set(tags), WIDE), new Set(answer))).toEqual([]);
});

it('names rows as their tags are named, also after they have changed', () => {
  const sourceOf = (id: string) => Buffer.from(`{"id":1,"documentId":"${id}","name":"a"}`);
  const of = { type: CHEF, world: 'published' } as const;
  const answer = names.answers(formOf(...WIDE));
  const sources = ['a', 'b'].map(sourceOf);
  for (const shown of [sources, sources.toReversed(), [...sources, sourceOf('c')]]) {
    const ids = shown.map((source) => JSON.parse(source.toString()).documentId as string);
    const tags = new Set(ids.map((id) => documentTag(CHEF, 'published', id)));
    expect(answer({ fixed: [], documents: [{ ...of, sources: shown }] })).toBe(headerOf(names, tags, WIDE));
  }
  const inDraft = answer({ fixed: [], documents: [{ ...of, world: 'draft', sources }] });
  expect(inDraft).toBe(
    headerOf(names, new Set(['a', 'b'].map((id) => documentTag(CHEF, 'draft', id))), WIDE),
  );
});

it('adds plain names if they are requested', () => {
  const tags = [documentTag(CHEF, 'published', 'abc'), attributeTag(CHEF, 'published', ROWS)];
  const plain = namesWith(true);
  expect(namesOf(plain, new Set(tags), WIDE)).toEqual(expect.arrayContaining(['chefs', 'chefs:abc']));
  expect([...plain.ofChange(tags)]).toEqual(expect.arrayContaining(['chefs', 'chefs:abc']));
  const hidden = createTagNames({ key, registry: { ...registry, contentTypes: new Map() }, plain: true });
  expect(namesOf(hidden, new Set(tags), WIDE).join(' ')).not.toContain('chef');
});

describe('lifetimes with purges', () => {
  const cdn = 'cdn-cache-control';
  it.each([
    ['varnish', 'cache-control', 'public, max-age=0, s-maxage=31536000, must-revalidate', ''],
    ['cloudfront', 'cache-control', 'public, max-age=0, s-maxage=31536000, must-revalidate', ''],
    ['fastly', 'surrogate-control', 'max-age=31536000', 'max-age=31536000'],
    ['cloudflare', cdn, 'public, max-age=31536000', 'public, max-age=31536000'],
    ['netlify', cdn, 'public, max-age=31536000', 'public, max-age=31536000'],
    ['akamai', cdn, 'public, max-age=31536000', 'public, max-age=31536000'],
    ['rfc9875', cdn, 'public, max-age=31536000', 'public, max-age=31536000'],
  ] as const)('are in the field that %s reads', (receiver, field, hard, year) => {
    const headers = (staleWhileRevalidate: number, staleIfError: number) =>
      purgedHeaders(receiver, { staleWhileRevalidate, staleIfError });
    expect(headers(0, 0)).toEqual({ [field]: hard });
    const start = year === '' ? 'public, max-age=0, s-maxage=31536000' : year;
    expect(headers(60, 0)).toEqual({ [field]: `${start}, stale-while-revalidate=60` });
    expect(headers(0, 90)).toEqual({ [field]: `${start}, stale-if-error=90` });
    let isPurging = false;
    const lifetime = { staleWhileRevalidate: 0, staleIfError: 0 };
    const purged = { lifetime, isPurging: () => isPurging };
    const tagging = createTagging(
      { receiver, bytes: 600, plain: false, key, purged, position: () => 1n },
      registry,
    );
    const tags = new Set(['d published api::tag.tag a']);
    expect(tagging.lifetimes?.(tags, 1)).toBeUndefined();
    isPurging = true;
    expect(tagging.lifetimes?.(tags, 1)).toEqual({ [field]: hard });
    expect(tagging.field(undefined)).toEqual([tagging.header, tagging.value(undefined)]);
  });
});

it('lets caches keep no answer ranked by words on Elasticsearch', () => {
  const lifetime = { staleWhileRevalidate: 0, staleIfError: 0 };
  const purged = { lifetime, isPurging: () => true, isRanked: false };
  const tagging = createTagging(
    { receiver: 'varnish', bytes: 600, plain: false, key, purged, position: () => 1n },
    registry,
  );
  const [plain, ranked] = [new Set(['d published api::tag.tag a']), new Set(['w api::tag.tag'])];
  expect(tagging.lifetimes?.(plain, 1)).toMatchObject({
    'cache-control': expect.stringContaining('s-maxage'),
  });
  expect([tagging.lifetimes?.(ranked, 1), tagging.lifetimes?.(undefined, 1)]).toEqual([undefined, undefined]);
});

describe('times for answers that are no longer up to date', () => {
  const settings = { cacheStaleWhileRevalidate: 0, cacheStaleIfError: 0, purge: [] };
  it.each([
    ['varnish', 'staleWhileRevalidate', true],
    ['varnish', 'staleIfError', false],
    ['netlify', 'staleIfError', false],
    ['akamai', 'staleWhileRevalidate', false],
    ['fastly', 'staleIfError', true],
    ['none', 'staleIfError', false],
  ] as const)('for %s are accepted only where it obeys them: %s', (cacheTags, rule, isObeyed) => {
    const name = rule === 'staleIfError' ? 'cacheStaleIfError' : 'cacheStaleWhileRevalidate';
    const [problem] = staleProblems({ ...settings, cacheTags, [name]: 60 });
    if (isObeyed) expect(problem).toBeUndefined();
    else expect(problem).toContain(`got ${cacheTags}`);
  });

  it('are refused without purges, and are optional', () => {
    const some = { ...settings, cacheTags: 'fastly', cacheStaleIfError: 60 } as const;
    expect(staleProblems({ ...some, purge: undefined })).toEqual([expect.stringContaining('needs --purge')]);
    expect(staleProblems({ ...settings, cacheTags: 'none', purge: undefined })).toEqual([]);
    expect(lifetimeOf(some)).toEqual({ staleWhileRevalidate: 0, staleIfError: 60 });
  });
});
