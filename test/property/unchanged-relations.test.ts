import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import type { Command } from '../../services/command/command.ts';
import type { CommandEnvironment } from '../../services/command/environment.ts';
import type { DocumentEvent } from '../../shared/document/events.ts';
import { RequestError } from '../../shared/request-error.ts';
import { type CommandWorld, openCommandWorld, schemasOf } from '../unit/command-world.ts';
import { foldBatches } from '../unit/graph-fixture.ts';

/**
 * Events may omit relations that do not change. Random writes with and without omissions give the same rows and links in both worlds.
 * SEED=1 RELATION_RUNS=1000 for a full run.
 */
const RUNS = Number(process.env['RELATION_RUNS'] ?? 10);
const SEED = Number(process.env['SEED'] ?? 14);

const localized = { i18n: { localized: true } };
const uid = (name: string) => `api::${name}.${name}` as const;
const relation = (kind: string, target: string, more: object = {}) => ({
  ...{ type: 'relation', relation: kind, target: uid(target) },
  ...more,
});
const SCHEMAS = schemasOf(
  {
    book: {
      attributes: {
        n: { type: 'integer' },
        tags: relation('manyToMany', 'tag', { inversedBy: 'books' }),
        best: relation('manyToOne', 'tag'),
        pages: relation('oneToMany', 'page', { mappedBy: 'book' }),
        next: relation('oneToOne', 'book', { inversedBy: 'previous' }),
        previous: relation('oneToOne', 'book', { mappedBy: 'next' }),
        part: { type: 'component', component: 'x.part' },
      },
    },
    tag: {
      options: { draftAndPublish: false },
      attributes: { books: relation('manyToMany', 'book', { mappedBy: 'tags' }) },
    },
    page: {
      pluginOptions: localized,
      attributes: {
        n: { type: 'integer', pluginOptions: localized },
        book: relation('manyToOne', 'book', { inversedBy: 'pages' }),
        near: relation('manyToMany', 'page', { pluginOptions: localized }),
        tags: relation('manyToMany', 'tag'),
      },
    },
  },
  { 'x.part': { tags: relation('oneToMany', 'tag') } },
);

const TARGETS = {
  book: { tags: 'tag', best: 'tag', pages: 'page', next: 'book', previous: 'book' },
  tag: { books: 'book' },
  page: { book: 'book', near: 'page', tags: 'tag' },
} as const;
type Name = keyof typeof TARGETS;

/** A document's number. Numbers name the same documents in both worlds. */
const document = fc.nat(2);

type RelationValue = (of: (n: number) => unknown, linked: readonly string[]) => unknown;

const relationValue = (): fc.Arbitrary<RelationValue> =>
  fc.oneof(
    fc.array(document, { maxLength: 3 }).map((list) => (of: (n: number) => unknown) => list.map(of)),
    fc
      .array(document, { maxLength: 3 })
      .map((list) => (of: (n: number) => unknown) => ({ set: list.map(of) })),
    fc
      .record({
        connect: fc.array(document, { maxLength: 2 }),
        disconnect: fc.array(document, { maxLength: 2 }),
        start: fc.boolean(),
      })
      .map(({ connect, disconnect, start }) => (of: (n: number) => unknown) => ({
        connect: connect.map((n) => ({ documentId: of(n), ...(start ? { position: { start: true } } : {}) })),
        disconnect: disconnect.map(of),
      })),
    fc.constant(() => null),
    // Links that exist already: a client sends back the list that it has read.
    fc.constant((_of: unknown, linked: readonly string[]) => linked),
    fc.constant((_of: unknown, linked: readonly string[]) => ({ connect: linked.slice(-1) })),
    fc.constant((_of: unknown, linked: readonly string[]) => ({ connect: linked })),
  );

const write = (name: Name) =>
  fc.record({
    kind: fc.constantFrom<'create' | 'update'>('create', ...Array(9).fill('update')),
    name: fc.constant(name),
    document,
    status: fc.constantFrom('draft', 'published'),
    locale: fc.constantFrom('en', 'en', 'fr'),
    relations: fc.dictionary(fc.constantFrom(...Object.keys(TARGETS[name])), relationValue(), { maxKeys: 2 }),
    part: fc.option(fc.array(document, { maxLength: 2 })),
    /** True if the write is sent a second time. Then only places in lists can change. */
    again: fc.boolean(),
  });

const action = fc.record({
  kind: fc.constantFrom<'publish' | 'unpublish' | 'discard-draft' | 'delete'>(
    ...(['publish', 'publish', 'unpublish', 'discard-draft', 'delete'] as const),
  ),
  name: fc.constantFrom<Name>('book', 'page'),
  document,
  locale: fc.constantFrom('en', 'fr'),
});

const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: write('book') },
    write('tag'),
    { weight: 2, arbitrary: write('page') },
    {
      weight: 2,
      arbitrary: action,
    },
  ),
  { minLength: 10, maxLength: 25 },
);
type Step = (typeof steps extends fc.Arbitrary<infer S> ? S : never) extends readonly (infer One)[]
  ? One
  : never;

/** Two documents of each type, published. */
const BEGINNING: readonly Step[] = (['book', 'book', 'tag', 'tag', 'page', 'page'] as const).map((name) => ({
  ...{ kind: 'create', name, document: 0, status: 'published', locale: 'en' },
  ...{ relations: {}, part: null, again: false },
}));

it(`writes of unchanged relations change nothing (SEED=${SEED})`, {
  timeout: RUNS * 4_000 + 20_000,
}, async () => {
  let leftOut = 0;
  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      const lean = await openCommandWorld(SCHEMAS, fixedChance);
      const full = await openCommandWorld(SCHEMAS, (graph) => ({
        ...fixedChance(),
        graph: { ...graph.reader, changingOperations: (_type, _document, _locale, operations) => operations },
      }));
      try {
        for (const step of [...BEGINNING, ...history]) {
          const outcomes = [await run(lean, step), await run(full, step)];
          expect(outcomes[0]).toEqual(outcomes[1]);
          expect(stateOf(lean.graph)).toEqual(stateOf(full.graph));
        }
        leftOut += countOperations(await full.newEvents()) - countOperations(await lean.newEvents());
      } finally {
        await Promise.all([lean.close(), full.close()]);
      }
    }),
    { numRuns: RUNS, seed: SEED },
  );
  expect(leftOut).toBeGreaterThan(0);
});

/** Returns ids in the order of creation, and times that advance by a second. */
function fixedChance(): Pick<CommandEnvironment, 'newDocumentId' | 'now'> {
  let documents = 0;
  let seconds = 0;
  return {
    newDocumentId: () => `document${documents++}`.padEnd(24, 'x'),
    now: () => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds++)),
  };
}

/** Returns the documents of a type, in order of creation. */
function documentsOf(world: CommandWorld, name: Name): readonly string[] {
  const { rows } = foldBatches(world.graph.readAll());
  const ids = [...rows.values()]
    .filter(({ type }) => type === uid(name))
    .map(({ fields }) => String(fields['documentId']));
  return [...new Set(ids)].sort((a, b) => Number(/\d+/.exec(a)) - Number(/\d+/.exec(b)));
}

/** Executes a step. Returns `done` or the reason of its refusal, which must be the same in both worlds. */
async function run(world: CommandWorld, step: Step): Promise<string> {
  const idOf = (name: Name) => (n: number) => {
    const all = documentsOf(world, name);
    return all[n % Math.max(1, all.length)] ?? 'nothing';
  };
  const documentId = idOf(step.name)(step.document);
  const locale = step.name === 'page' ? step.locale : undefined;
  const about = { type: uid(step.name), documentId, locale };
  const commands: Command[] = [];
  if ('relations' in step) {
    const relations = Object.entries(step.relations).map(([attribute, value]) => {
      const target = (TARGETS[step.name] as Record<string, Name>)[attribute] as Name;
      const linked = world.graph.reader
        .linkedTargets(about.type, documentId, locale ?? null, attribute)
        .map((each) => each.documentId);
      return [attribute, value(idOf(target), linked)];
    });
    const part =
      step.name === 'book' && step.part !== null ? { part: { tags: step.part.map(idOf('tag')) } } : {};
    const body = { data: { ...Object.fromEntries(relations), ...part } };
    const { kind, status } = step;
    commands.push({ ...about, kind, status, body } as Command);
    if (kind === 'update' && step.again) commands.push({ ...about, kind, status, body } as Command);
  } else commands.push({ ...about, kind: step.kind });
  try {
    for (const command of commands) await world.execute(command);
    return 'done';
  } catch (error) {
    if (error instanceof RequestError) return error.message;
    throw error;
  }
}

/** Returns rows and ordered links by names, without times and publication states, which every edit changes. */
function stateOf(graph: ContentGraph): unknown {
  const { rows, links } = foldBatches(graph.readAll());
  const names = new Map<string, string>();
  const contents = [...rows.values()].map((row) => {
    const name = `${row.type} ${row.fields['documentId']} ${row.fields['locale'] ?? ''}`;
    names.set(`${row.version} ${row.key}`, name);
    const { updatedAt: _updatedAt, ...content } = JSON.parse(Buffer.from(row.source).toString());
    return [`${name} ${row.version}`, content];
  });
  const nameOf = (world: string, key: number) =>
    names.get(`${world} ${key}`) ?? names.get(`live ${key}`) ?? `component ${key}`;
  const lists = new Map<string, [name: string, order: number, key: number][]>();
  const add = (list: string, name: string, order: number, key: number) => {
    lists.set(list, [...(lists.get(list) ?? []), [name, order, key]]);
  };
  for (const { world, rowSet, attribute, source, target, order } of links.values()) {
    if (order === null) continue;
    const [from, to] = [nameOf(world, source), nameOf(world, target)];
    const about = `${world} ${JSON.stringify(rowSet)} ${attribute}`;
    add(`${about} of ${from}`, to, order.sourceOrder, target);
    add(`${about} to ${to}`, from, order.targetOrder, source);
  }
  const ordered = [...lists].map(([list, members]) => [
    list,
    members.sort((a, b) => a[1] - b[1] || a[2] - b[2]).map(([name]) => name),
  ]);
  return { contents: Object.fromEntries(contents), links: Object.fromEntries(ordered) };
}

function countOperations(events: readonly DocumentEvent[]): number {
  return events.reduce((sum, { data }) => sum + ('relations' in data ? data.relations.length : 0), 0);
}
