import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openContentGraph } from '../../projections/graph/content-graph.ts';
import type { VarveEvent } from '../../shared/document/events.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import type { Json } from '../../shared/json.ts';
import { count } from '../support/takes-minutes.ts';
import { createLog, DEFINITIONS, definition, SCHEMAS, uid } from '../unit/graph-fixture.ts';
import { historyOf, type Step, steps } from '../unit/graph-history.ts';
import { graphOutcome } from '../unit/graph-outcome.ts';

/**
 * Random changes of content types in the middle of random histories. A graph that followed the log equals one that was rebuilt from it. After
 * the original definitions are back, it has the same content as a graph whose content types never changed.
 */
const RUNS = Number(process.env['GRAPH_RUNS'] ?? count(30, 10));
const SEED = Number(process.env['SEED'] ?? 14);

type Attributes = { readonly [name: string]: Json };
type Change = {
  readonly defines: readonly VarveEvent[];
  /** Attributes, by type, that nobody can edit while the change is in force. */
  readonly hides: { readonly [type: string]: readonly string[] };
};

const relation = (kind: string, target: string, more: object = {}) =>
  ({ type: 'relation', relation: kind, target: uid(target), ...more }) as Json;

function redefined(name: string, attributes: Attributes, more: Attributes = {}): VarveEvent {
  const schema = SCHEMAS[name] as unknown as { readonly attributes: Attributes };
  const merged = Object.entries({ ...schema.attributes, ...attributes }).filter(([, each]) => each !== null);
  return definition(name, { ...schema, attributes: Object.fromEntries(merged), ...more } as Json);
}

/** Redefines both types with components. null removes a component or one of its attributes. */
function withComponents(
  components: { readonly [uid: string]: Attributes | null },
  sections: Json,
): VarveEvent[] {
  return ['restaurant', 'article'].map((name) => {
    const { data } = definition(name) as Extract<VarveEvent, { type: 'content-type-defined' }>;
    const changed = Object.entries(data.components).flatMap(([each, json]) => {
      const change = components[each];
      if (change === null) return [];
      const { attributes } = json as unknown as { attributes: Attributes };
      const kept = Object.entries({ ...attributes, ...change }).filter(([, attribute]) => attribute !== null);
      return [[each, { ...(json as object), attributes: Object.fromEntries(kept) }]];
    });
    const own = name === 'restaurant' ? (redefined(name, { sections }) as typeof event) : undefined;
    const event = { type: 'content-type-defined', data } as Extract<
      VarveEvent,
      { type: 'content-type-defined' }
    >;
    const schema = own?.data.schema ?? data.schema;
    return { ...event, data: { ...data, schema, components: Object.fromEntries(changed) } };
  });
}

const ZONE = { type: 'dynamiczone', components: ['blocks.teaser', 'common.geo'] };
const INSIDE = { restaurant: ['address', 'sections'], article: ['place'] };
const ATTRIBUTE_CHANGES: readonly Change[] = [
  { defines: [redefined('restaurant', { name: null })], hides: { restaurant: ['name'] } },
  { defines: [redefined('restaurant', { name: { type: 'integer' } })], hides: { restaurant: ['name'] } },
  { defines: [redefined('restaurant', { address: null })], hides: { restaurant: ['address'] } },
  { defines: [redefined('restaurant', { sections: null })], hides: { restaurant: ['sections'] } },
  {
    defines: [redefined('restaurant', { sections: { type: 'dynamiczone', components: ['common.geo'] } })],
    hides: { restaurant: ['sections'] },
  },
  {
    defines: [redefined('restaurant', { tags: null }), redefined('tag', { restaurants: null })],
    hides: { restaurant: ['tags'], tag: ['restaurants'] },
  },
  {
    defines: [redefined('restaurant', { chef: null }), redefined('chef', { restaurants: null })],
    hides: { restaurant: ['chef'], chef: ['restaurants'] },
  },
  {
    defines: [redefined('restaurant', { similar: relation('oneToMany', 'chef') })],
    hides: { restaurant: ['similar'] },
  },
  { defines: [redefined('chef', { mentor: null, mentees: null })], hides: { chef: ['mentor', 'mentees'] } },
  {
    defines: [
      redefined('chef', {
        name: null,
        fullName: { type: 'string', pluginOptions: { varve: { renamedFrom: 'name' } } },
      }),
    ],
    hides: { chef: ['name'] },
  },
  { defines: withComponents({ 'common.address': { city: null } }, ZONE), hides: INSIDE },
  { defines: withComponents({ 'common.address': { country: null } }, ZONE), hides: INSIDE },
  {
    defines: withComponents(
      { 'common.geo': null, 'common.address': { geo: null } },
      { type: 'dynamiczone', components: ['blocks.teaser'] },
    ),
    hides: INSIDE,
  },
];
/** Changes after which the same events would not fit, or act otherwise. */
const ROW_CHANGES: readonly Change[] = [
  { defines: [redefined('topic', {}, { pluginOptions: {} })], hides: { topic: ['*'] } },
  { defines: [redefined('chef', {}, { options: { draftAndPublish: false } })], hides: { chef: ['*'] } },
  {
    defines: [redefined('review', {}, { options: { draftAndPublish: true } })],
    hides: { review: ['*'] },
  },
  {
    defines: [redefined('restaurant', { menu: null }), redefined('menu', { restaurant: null })],
    hides: { restaurant: ['menu'], menu: ['restaurant'] },
  },
  {
    defines: [redefined('article', { code: null, author: null }, { pluginOptions: {} })],
    hides: { article: ['*'] },
  },
];

const changes = (from: readonly Change[]) =>
  fc.array(fc.record({ change: fc.constantFrom(...from), at: fc.nat(99), length: fc.nat(60) }), {
    minLength: 1,
    maxLength: 4,
  });
type Placed = { readonly change: Change; readonly at: number; readonly length: number };

/** Removes what nobody can edit from an event; undefined: the whole event. */
function stripped(event: VarveEvent, hidden: Change['hides']): VarveEvent | undefined {
  if (!('documentId' in event.data)) return event;
  const [, name = ''] = event.data.type.split('.');
  const names = hidden[name] ?? [];
  if (names.includes('*')) return undefined;
  if (!('relations' in event.data) || event.type === 'entry-imported') return event;
  const { values, relations } = event.data;
  const data = {
    ...event.data,
    values: Object.fromEntries(Object.entries(values).filter(([each]) => !names.includes(each))),
    relations: relations.filter(({ attribute }) => !names.includes(attribute)),
  };
  return { ...event, data } as VarveEvent;
}

/**
 * Places changes in a history, one after the other: each is taken back before the next. Returns the events with and without definitions.
 * Events that the changes make impossible are in neither.
 */
function placed(history: readonly Step[], wanted: readonly Placed[]) {
  const events = historyOf(history);
  const changing: VarveEvent[] = [...DEFINITIONS];
  const unchanging: VarveEvent[] = [...DEFINITIONS];
  const ordered = [...wanted].sort((a, b) => a.at - b.at);
  const omitted = new Set<string>();
  let [current, until] = [undefined as Change | undefined, 0];
  const restore = () => {
    for (const { data } of current?.defines ?? []) changing.push(original(data as { uid: string }));
    current = undefined;
  };
  for (const [n, event] of events.entries()) {
    const share = (100 * n) / events.length;
    if (current !== undefined && share >= until) restore();
    const next = ordered[0];
    if (current === undefined && next !== undefined && share >= next.at) {
      ordered.shift();
      current = next.change;
      until = share + next.length;
      changing.push(...current.defines);
    }
    const left = omitted.has(documentOf(event)) ? undefined : stripped(event, current?.hides ?? {});
    if (left === undefined) {
      // Later events of the document build on this one.
      omitted.add(documentOf(event));
      continue;
    }
    changing.push(left);
    unchanging.push(left);
  }
  restore();
  return { changing, unchanging };
}

function documentOf({ data }: VarveEvent): string {
  return 'documentId' in data ? `${data.type} ${data.documentId}` : '';
}

function original({ uid: type }: { readonly uid: string }): VarveEvent {
  return definition(type.split('.')[1] ?? '');
}

function inFolder<Result>(use: (folder: string) => Result): Result {
  const folder = mkdtempSync(join(tmpdir(), 'varve-restored-'));
  try {
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const COMPARED = ['country', 'tag', 'chef', 'restaurant', 'menu', 'review'];

/** Returns the content of a graph, without the ids of components and the positions and times of edits. */
function contentOf(folder: string, events: readonly StoredEvent[]) {
  const graph = openContentGraph(join(folder, 'content.db'));
  for (const event of events) graph.apply([event]);
  const content: Record<string, unknown> = {};
  for (const type of COMPARED)
    for (let n = 0; n < 3; n++) {
      const documentId = `${type}${n}`;
      for (const { version, values, ...row } of graph.reader.entries(uid(type), documentId))
        content[`${documentId} ${version}`] = withoutIds({ values, id: row.id });
    }
  for (const batch of graph.readAll())
    for (const { rowSet, attribute, world, source, target, sourceOrder } of batch.links as never as Linked[])
      if (rowSet.path.length === 0 && COMPARED.some((type) => uid(type) === rowSet.type))
        if (sourceOrder !== null) content[`${rowSet.type} ${attribute} ${world} ${source} ${target}`] = true;
  graph.close();
  return content;
}

type Linked = {
  readonly rowSet: { readonly type: string; readonly path: readonly unknown[] };
  readonly attribute: string;
  readonly world: string;
  readonly source: number;
  readonly target: number;
  readonly sourceOrder: number | null;
};

function withoutIds(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, each: unknown) => (key === 'id' ? undefined : each)));
}

it('brings back what a change of content types hid, as if it had never happened', () => {
  fc.assert(
    fc.property(steps(), changes(ATTRIBUTE_CHANGES), (history, wanted) => {
      const { changing, unchanging } = placed(history, wanted);
      inFolder((folder) => {
        const changed = createLog().add(...changing);
        graphOutcome(folder, changed).close();
        const found = inFolder((own) => contentOf(own, changed));
        const expected = inFolder((own) => contentOf(own, createLog().add(...unchanging)));
        expect(found).toEqual(expected);
      });
    }),
    { seed: SEED, numRuns: RUNS },
  );
});

it('a graph that followed any changes equals one that was rebuilt', () => {
  fc.assert(
    fc.property(steps(), changes([...ATTRIBUTE_CHANGES, ...ROW_CHANGES]), (history, wanted) => {
      const { changing } = placed(history, wanted);
      inFolder((folder) => graphOutcome(folder, createLog().add(...changing)).close());
    }),
    { seed: SEED, numRuns: RUNS },
  );
});
