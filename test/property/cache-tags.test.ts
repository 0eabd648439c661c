import { cpSync, rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KnownAnswers } from '../../services/delivery/known-answers.ts';
import { identifyingFields, narrowingFields, narrowingRelations } from '../../services/delivery/narrowing.ts';
import type { ContentApi } from '../../services/http/api/content-api.ts';
import type { Varve } from '../../services/process/open-varve.ts';
import { RequestError } from '../../shared/request-error.ts';
import type { ContentType } from '../../shared/schema/content-type.ts';
import { type CorpusWriter, createCorpusWriter } from '../support/corpus-writes.ts';
import { loadedCorpus } from '../support/loaded-corpus.ts';
import { generateQuery } from '../support/naive-queries.ts';
import { createRandom, type Random } from '../support/naive-random.ts';
import { createRequestSource, type RequestSource } from '../support/random-requests.ts';
import { createDataDirectory } from '../support/server.ts';
import { count } from '../support/takes-minutes.ts';
import { openWithKnownAnswers } from '../support/varve-in-process.ts';

const PAIRS = Number(process.env['VARVE_CACHE_PAIRS'] ?? count(50_000, 1_000));
const SEED = Number(process.env['VARVE_PROPERTY_SEED'] ?? 14);
/** Number of answers that are remembered at the same time. */
const QUESTIONS = 60;

let varve: Varve;
let content: ContentApi;
let known: KnownAnswers;
const data = createDataDirectory();
beforeAll(async () => {
  cpSync(await loadedCorpus(), data, { recursive: true });
  ({ varve, content, known } = await openWithKnownAnswers(data));
}, 180_000);
afterAll(async () => {
  await varve?.close();
  rmSync(data, { recursive: true, force: true });
});

type Question = { readonly type: ContentType; readonly documentId?: string; readonly query: string };
type Remembered = { readonly question: Question; readonly bytes: string };

const WORDS = ['search=casa', 'search=pizza bar', 'search=the&facets=kind', 'facets=stars,category.key'];

/** Creates random questions for lists and entries: requests like those of the corpus, random filters, searches by words. */
function createQuestions(
  random: Random,
  requests: RequestSource,
  writer: CorpusWriter,
): () => Question | Promise<Question> {
  const types = new Map([...varve.registry.contentTypes.values()].map((type) => [type.pluralName, type]));
  const typeAt = (path: string) => {
    const type = types.get(path.slice('/api/'.length));
    return type?.uid.startsWith('api::') === true ? type : undefined;
  };
  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: a list of kinds of questions, one after the other.
  return () => {
    for (;;) {
      const [path = '', text = ''] = requests.next().split('?');
      const type = typeAt(path);
      if (type === undefined) continue;
      const world = random.chance(0.3) ? 'status=draft&' : '';
      if (random.chance(0.25)) {
        const populate = text.match(/(?<=^|&)populate[^&]*/g) ?? [];
        const documentId = writer.pick(type) ?? 'nobody';
        return { type, documentId, query: world + populate.join('&') };
      }
      if (random.chance(0.3)) {
        const { filters } = generateQuery(random, { registry: varve.registry }, type.uid, 3);
        return { type, query: `${world}${filters}&locale=${random.pick(['*', 'en', 'it'])}` };
      }
      if (random.chance(0.15)) return { type, query: `${world}${random.pick(WORDS)}` };
      return random.chance(0.4) ? equalityQuestion(type, world, { random, writer }) : { type, query: text };
    }
  };
}

/** Filters with one or two equalities of the same field. Some require an equality, others do not. */
const EQUALITIES: readonly ((one: string, other: string) => readonly string[])[] = [
  (one) => [one],
  (one) => [one],
  (one) => [`[$and][0][$and][0]${one}`],
  (one) => [`[$and][0]${one}`, `[$and][1]${one}`],
  (one, other) => [`[$and][0]${one}`, `[$and][1]${other}`],
  (one, other) => [one, `[$or][0]${one}`, `[$or][1]${other}`],
  (one, other) => [`[$or][0]${one}`, `[$or][1]${other}`],
  (one) => [`[$or][0]${one}`],
  (one, other) => [one, `[$not]${other}`],
  (one) => [one, `[$not][id][$lt]=5`, `[$not]${one}`],
  (one) => [`[$not]${one}`],
  (one) => [`[$not][$not]${one}`],
];

/** Returns a question that filters rows by a current value of a document, or of a linked document. Some questions ask for more. */
async function equalityQuestion(
  type: ContentType,
  world: string,
  { random, writer }: { readonly random: Random; readonly writer: CorpusWriter },
): Promise<Question> {
  const relations = narrowingRelations(varve.registry, type);
  const relation = relations.length > 0 && random.chance(0.6) ? random.pick(relations) : undefined;
  const target = relation?.target ?? type;
  const prefix = relation === undefined ? '' : `[${relation.attribute}]`;
  const field = random.pick(relation === undefined ? narrowingFields(type) : identifyingFields(target));
  const equal = async () => {
    const documentId = writer.pick(target) ?? 'nobody';
    const now = await ask({ type: target, documentId, query: 'status=draft' });
    const values = now?.startsWith('{') === true ? (JSON.parse(now) as { data: object }).data : {};
    const value = String(new Map(Object.entries(values)).get(field) ?? documentId);
    return `${prefix}[${field}]=${encodeURIComponent(value)}`;
  };
  const parts = random.pick(EQUALITIES)(await equal(), await equal());
  const key = relation === undefined ? field : `${relation.attribute}.${field}`;
  const more = random.pick([
    ...['', '', `&sort=${key},id`, `&filters${prefix}[documentId][$notNull]=true`],
    ...['&populate=*', '&sort=documentId&pagination[pageSize]=3', '&locale=*'],
    '&facets=kind,category.key',
  ]);
  return { type, query: `${world}${parts.map((part) => `filters${part}`).join('&')}${more}` };
}

const keyOf = ({ type, documentId = '', query }: Question) => `${type.uid} ${documentId} ${query}`;

/** Returns the answer, or undefined if the request is refused. */
async function ask(
  { type, documentId, query }: Question,
  tags = known.collect(),
): Promise<string | undefined> {
  const asking = { id: '', isWanted: () => true, isDraft: false, varies: false, tags, shown: tags.shown };
  try {
    const bytes =
      documentId === undefined
        ? await content.list(type, query, asking)
        : await content.entry(type, documentId, query, asking);
    return Buffer.from(bytes).toString();
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return error.code === 'not-found' ? 'not found' : undefined;
  }
}

/** Sends a request, and remembers the answer by its tags. */
async function remember(question: Question): Promise<Remembered | undefined> {
  const tags = known.collect();
  const bytes = await ask(question, tags);
  if (bytes === undefined) return undefined;
  known.keep(keyOf(question), {
    etag: '""',
    isDraft: false,
    position: known.position(),
    tags: tags.all(),
    body: Buffer.from(bytes),
  });
  return { question, bytes };
}

/** Returns the first difference of two texts, with some text around it. */
function difference(before: string, after: string): string {
  let at = 0;
  while (at < before.length && before[at] === after[at]) at++;
  return [before, after].map((text) => text.slice(Math.max(0, at - 200), at + 100)).join('\n');
}

type Counts = { pairs: number; changed: number; purged: number; writes: number };

/** Compares a remembered answer with the answer after a write. Returns the current one. */
async function compare({ question, bytes }: Remembered, counts: Counts): Promise<Remembered> {
  const kept = known.find(keyOf(question));
  const isKept = kept !== undefined;
  const now = await ask(question);
  counts.pairs++;
  if (now !== bytes) counts.changed++;
  if (!isKept) counts.purged++;
  const isStale = now !== bytes && isKept;
  if (isStale) expect.fail(`seed ${SEED}: ${keyOf(question)}\n${difference(bytes, now ?? 'refused')}`);
  if (isKept && Buffer.compare(kept.body ?? Buffer.of(), Buffer.from(bytes)) !== 0)
    expect.fail(`seed ${SEED}: ${keyOf(question)} is remembered with another body`);
  if (isKept) return { question, bytes };
  return (await remember(question)) ?? { question, bytes: '' };
}

describe(`tags of answers (seed ${SEED}, ${PAIRS} pairs)`, () => {
  const title = 'of every answer whose bytes a write changes include one that the write changes';
  it(title, { timeout: 300_000 + PAIRS * 20 }, async () => {
    const random = createRandom(SEED);
    const writer = await createCorpusWriter(content, varve.registry, random);
    const next = createQuestions(random, createRequestSource(SEED), writer);
    const remembered: Remembered[] = [];
    const counts: Counts = { pairs: 0, changed: 0, purged: 0, writes: 0 };
    while (counts.pairs < PAIRS) {
      while (remembered.length < QUESTIONS) {
        const question = await next();
        // A repeated question would be remembered again before the first answer is compared.
        if (remembered.some((one) => keyOf(one.question) === keyOf(question))) continue;
        const one = await remember(question);
        if (one !== undefined) remembered.push(one);
      }
      if (!(await writer.write())) continue;
      counts.writes++;
      for (const [at, one] of remembered.entries()) remembered[at] = await compare(one, counts);
      // New questions replace some.
      remembered.splice(random.between(0, QUESTIONS - 1), 2);
    }
    const ratio = (counts.purged / counts.changed).toFixed(2);
    process.stdout.write(`${JSON.stringify(counts)}: ${ratio} purged for each answer that changed\n`);
    expect(counts.changed).toBeGreaterThan(0);
    // One tag for all answers would be correct but useless, so not too many answers may be purged.
    expect(counts.purged).toBeLessThan(counts.pairs / 2);
  });
});
