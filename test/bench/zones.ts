import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Command } from 'commander';
import type { BoolQuery } from '../../shared/read-index/bool-query.ts';
import type { Neighbours } from '../../shared/read-index/document-index.ts';
import { createKnownFaults } from '../../shared/read-index/elasticsearch/indices/known-faults.ts';
import type { IndexedComponent, IndexedRow, SearchRequest } from '../../shared/read-index/read-index.ts';
import { createRandom } from '../support/naive-random.ts';

/**
 * `node test/bench/zones.ts --url URL --components 250`: measures pages with a dynamic zone of many components on Elasticsearch: fields of
 * the mapping, filling, bytes, and filters through the zone. Times are of the node's processor, since other programs disturb it less.
 * `--checkout DIR` measures another checkout.
 */
const options = new Command()
  .requiredOption('--url <url>', 'an Elasticsearch that does nothing else')
  .option('--components <n>', 'kinds of components in the zone', '30')
  .option('--pages <n>', 'documents', '4000')
  .option('--sections <n>', 'components of each page', '8')
  .option('--queries <n>', 'distinct queries of each kind', '200')
  .option('--checkout <dir>', 'checkout to measure', join(import.meta.dirname, '../..'))
  .parse()
  .opts<{
    url: string;
    components: string;
    pages: string;
    sections: string;
    queries: string;
    checkout: string;
  }>();

const [components, pages, sections, queries] = [
  options.components,
  options.pages,
  options.sections,
  options.queries,
].map(Number) as [number, number, number, number];
const load = <Module>(path: string) =>
  import(pathToFileURL(join(options.checkout, 'shared', path)).href) as Promise<Module>;
const at = 'read-index/elasticsearch';
const { buildRegistry } =
  await load<typeof import('../../shared/schema/build-registry.ts')>('schema/build-registry.ts');
const { columnValue } =
  await load<typeof import('../../shared/read-index/column.ts')>('read-index/column.ts');
const { createLayout } = await load<
  typeof import('../../shared/read-index/elasticsearch/layout/create-layout.ts')
>(`${at}/layout/create-layout.ts`);
const { indexDefinition } = await load<
  typeof import('../../shared/read-index/elasticsearch/layout/index-definition.ts')
>(`${at}/layout/index-definition.ts`);
const { createIndexNames } = await load<
  typeof import('../../shared/read-index/elasticsearch/layout/index-names.ts')
>(`${at}/layout/index-names.ts`);
const { createByteSink, discardWritten, writtenSince } = await load<
  typeof import('../../shared/read-index/elasticsearch/documents/byte-sink.ts')
>(`${at}/documents/byte-sink.ts`);
const { writeDocument } = await load<
  typeof import('../../shared/read-index/elasticsearch/documents/create-document.ts')
>(`${at}/documents/create-document.ts`);
const { createElasticsearchReader } = await load<
  typeof import('../../shared/read-index/elasticsearch/read/elasticsearch-reader.ts')
>(`${at}/read/elasticsearch-reader.ts`);
const { createElasticsearchClient } = await load<
  typeof import('../../shared/read-index/elasticsearch/wire/client.ts')
>(`${at}/wire/client.ts`);
const { createSearchEngine } = await load<
  typeof import('../../shared/read-index/elasticsearch/wire/search-engine.ts')
>(`${at}/wire/search-engine.ts`);

const [PAGE, TOPIC, CARD, BUTTON] = ['api::page.page', 'api::topic.topic', 'parts.card', 'parts.button'];
const TOPICS = 200;
const kindOf = (n: number) => `sections.kind${n}`;
const type = (name: string, attributes: object) => ({
  ...({ model: 'contentType', file: name, namespace: `api::${name}` } as const),
  json: {
    kind: 'collectionType',
    info: { singularName: name, pluralName: `${name}s`, displayName: name },
    options: { draftAndPublish: false },
    attributes,
  },
});
const part = (uid: string, attributes: object) => ({
  ...({ model: 'component', file: uid, uid } as const),
  json: { info: { displayName: uid }, attributes },
});
const component = (uid: string, repeatable: boolean) => ({ type: 'component', component: uid, repeatable });
const SECTION = {
  headline: { type: 'string' },
  anchor: { type: 'string' },
  text: { type: 'richtext' },
  tone: { type: 'enumeration', enum: ['light', 'dark', 'loud'] },
  columns: { type: 'integer' },
  hidden: { type: 'boolean' },
  button: component(BUTTON, false),
  cards: component(CARD, true),
  topic: { type: 'relation', relation: 'oneToOne', target: TOPIC },
};
const kinds = Array.from({ length: components }, (_, n) => kindOf(n));
const { registry, problems } = buildRegistry([
  type('page', { title: { type: 'string' }, sections: { type: 'dynamiczone', components: kinds } }),
  type('topic', { name: { type: 'string' }, weight: { type: 'integer' } }),
  part(BUTTON, { label: { type: 'string' }, url: { type: 'string' }, blank: { type: 'boolean' } }),
  part(CARD, { title: { type: 'string' }, text: { type: 'text' }, price: { type: 'decimal' } }),
  ...kinds.map((uid) => part(uid, SECTION)),
]);
if (problems.length > 0) throw new Error(JSON.stringify(problems));

const random = createRandom(7);
const WORDS = Array.from({ length: 3_000 }, () =>
  Array.from({ length: random.between(3, 9) }, () => random.pick([...'etaoinshrdlucm'])).join(''),
);
const words = (count: number) => Array.from({ length: count }, () => random.pick(WORDS)).join(' ');
const encoder = new TextEncoder();
let ids = 0;

function made(
  uid: string,
  values: Readonly<Record<string, unknown>>,
  below: IndexedComponent['components'] = {},
) {
  const key = ++ids;
  const model = registry.components.get(uid);
  const fields = Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const attribute = model?.attributes.get(name);
      return [name, attribute?.kind === 'scalar' ? columnValue(attribute.type, value) : null];
    }),
  );
  const source = encoder.encode(JSON.stringify({ __component: uid, id: key, ...values }));
  return { component: uid, key, source, fields: { ...fields, id: key }, components: below };
}

function section(): IndexedComponent {
  const cards = Array.from({ length: 2 }, () =>
    made(CARD, { title: words(3), text: words(12), price: random.between(1, 5_000) / 100 }),
  );
  const button = [made(BUTTON, { label: words(2), url: `/${words(1)}`, blank: random.chance(0.5) })];
  const values = {
    headline: words(4),
    anchor: words(1),
    text: words(40),
    tone: random.pick(['light', 'dark', 'loud']),
    columns: random.between(1, 500),
    hidden: random.chance(0.1),
  };
  return made(kindOf(random.between(0, components - 1)), values, { button, cards });
}

const system = { createdAt: 0, updatedAt: 0, publishedAt: 0 };
function rowOf(id: number, values: IndexedRow['fields'], below: IndexedRow['components'] = {}): IndexedRow {
  const source = encoder.encode(JSON.stringify({ id, documentId: `d${id}`, ...values }));
  return { source, fields: { ...values, ...system, id, documentId: `d${id}` }, components: below };
}

const topics = Array.from({ length: TOPICS }, (_, n) => rowOf(n + 1, { name: WORDS[n] ?? '', weight: n }));
const neighbours: Neighbours = {
  linked: ({ path }, key, attribute) =>
    attribute === 'topic' && path.length === 1 ? [{ key: (key % TOPICS) + 1, otherOrder: 0 }] : [],
  row: (_, key) => topics[key - 1],
};

const names = createIndexNames('zones');
const layouts = new Map(
  [PAGE, TOPIC].map((uid) => [uid, createLayout(registry, uid, { toOne: 2, toMany: 1, paths: [] })]),
);
const layoutOf = (uid: string) => layouts.get(uid) ?? (undefined as never);

async function send(method: string, path: string, body?: string): Promise<unknown> {
  const headers = { 'content-type': path.startsWith('/_bulk') ? 'application/x-ndjson' : 'application/json' };
  const answer = await fetch(options.url + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
  });
  const json = (await answer.json()) as { readonly errors?: boolean };
  if (!answer.ok || json.errors === true)
    throw new Error(`${method} ${path}: ${JSON.stringify(json).slice(0, 600)}`);
  return json;
}

/** Returns the milliseconds of processor time that the node has used. */
async function nodeTime(): Promise<number> {
  // The node measures once a second.
  await delay(1_100);
  const { nodes } = (await send('GET', '/_nodes/stats/process')) as {
    readonly nodes: Readonly<
      Record<string, { readonly process: { readonly cpu: { readonly total_in_millis: number } } }>
    >;
  };
  return Object.values(nodes).reduce((sum, { process: { cpu } }) => sum + cpu.total_in_millis, 0);
}

async function measured(
  work: () => Promise<void>,
): Promise<{ readonly node: number; readonly own: number; readonly wall: number }> {
  const [before, own, started] = [await nodeTime(), process.cpuUsage(), performance.now()];
  await work();
  const used = process.cpuUsage(own);
  return {
    own: (used.user + used.system) / 1000,
    wall: performance.now() - started,
    node: (await nodeTime()) - before,
  };
}

function countFields(properties: object): { fields: number; nested: number } {
  let [fields, nested] = [0, 0];
  for (const mapping of Object.values(properties) as { type?: string; properties?: object }[]) {
    const below = countFields(mapping.properties ?? {});
    fields += 1 + below.fields;
    nested += (mapping.type === 'nested' ? 1 : 0) + below.nested;
  }
  return { fields, nested };
}

const zone = (query: BoolQuery): BoolQuery => ({
  ...{ kind: 'some_in_zone', attribute: 'sections', query },
  component: kindOf(random.between(0, components - 1)),
});
const some = (attribute: string, query: BoolQuery): BoolQuery => ({ kind: 'some', attribute, query });
const term = (field: string, value: string): BoolQuery => ({ kind: 'term', field, value });
const contains = (field: string, value: string): BoolQuery => ({
  ...{ kind: 'text', match: 'contains', fold: true, field, value },
});
const QUERIES: Readonly<Record<string, () => BoolQuery>> = {
  'plain page': () => ({ kind: 'match_all' }),
  'a component': () => zone({ kind: 'match_all' }),
  'text equals': () => zone(term('anchor', words(1))),
  'text contains a word': () => zone(contains('text', words(1))),
  'text contains 3 letters': () => zone(contains('text', words(1).slice(0, 3))),
  'number range': () => zone({ kind: 'range', field: 'columns', gt: random.between(1, 450) }),
  'single component': () => zone(some('button', contains('label', words(1)))),
  'list of components': () => zone(some('cards', contains('text', words(1)))),
  'two conditions': () =>
    zone({
      kind: 'bool',
      filter: [term('tone', 'dark'), some('cards', { kind: 'range', field: 'price', lt: 20 })],
    }),
  'not in the zone': () => ({ kind: 'bool', must_not: [zone(term('tone', 'loud'))] }),
  'linked row': () => zone(some('topic', term('name', random.pick(WORDS.slice(0, TOPICS))))),
};

const definition = indexDefinition(layoutOf(PAGE)) as { readonly mappings: { readonly properties: object } };
console.log(JSON.stringify({ components, ...countFields(definition.mappings.properties) }));
for (const uid of [PAGE, TOPIC]) {
  await fetch(`${options.url}/${names.alias(uid, 'published')}`, { method: 'DELETE' });
  await send('PUT', `/${names.alias(uid, 'published')}`, JSON.stringify(indexDefinition(layoutOf(uid))));
}
const sink = createByteSink();
const BULK = 100;
async function fill(uid: string, count: number, row: (key: number) => IndexedRow): Promise<void> {
  for (let from = 1; from <= count; from += BULK) {
    let body = '';
    for (let key = from; key < from + BULK && key <= count; key++) {
      discardWritten(sink);
      writeDocument(sink, layoutOf(uid), { key, row: row(key) }, neighbours);
      body += `{"index":{"_index":"${names.alias(uid, 'published')}","_id":"${key}"}}\n${writtenSince(sink, 0)}\n`;
    }
    await send('POST', '/_bulk', body);
  }
}
await fill(TOPIC, TOPICS, (key) => topics[key - 1] as IndexedRow);
const filling = await measured(async () => {
  await fill(PAGE, pages, (key) =>
    rowOf(key, { title: words(4) }, { sections: Array.from({ length: sections }, section) }),
  );
  await send('POST', '/zones-*/_refresh');
});
await send('POST', '/zones-*/_forcemerge?max_num_segments=1');
const stats = (await send('GET', '/zones-*/_stats/store,segments')) as {
  readonly _all: { readonly total: { readonly store: { readonly size_in_bytes: number } } };
};
const bytes = Math.round(stats._all.total.store.size_in_bytes / pages);
const perPage = (ms: number) => (ms / pages).toFixed(2);
console.log(
  `filling, ms a page: node ${perPage(filling.node)}, own ${perPage(filling.own)}, wall ${perPage(filling.wall)}; ${bytes} bytes a page`,
);

const client = createElasticsearchClient({ url: options.url });
// The indices have the names of the aliases.
const live = Object.fromEntries(
  [PAGE, TOPIC].map((uid) => [names.alias(uid, 'published'), names.alias(uid, 'published')]),
);
const reader = createElasticsearchReader({
  indices: { get: () => live, refresh: async () => live },
  ...{
    faults: createKnownFaults(),
    engine: createSearchEngine(client),
    names,
    layouts: layoutOf,
    semiJoinLimit: 1_000_000,
    sortLimit: 10_000,
    groupLimit: 10_000,
  },
});
for (const [name, create] of Object.entries(QUERIES)) {
  let found = 0;
  const run = async (count: number) => {
    for (let n = 0; n < count; n++) {
      const request: SearchRequest = {
        ...{ type: PAGE, world: 'published', query: create(), sort: [], from: 0, size: 25, withTotal: true },
      };
      found += (await reader.search(request)).total ?? 0;
    }
  };
  await run(Math.ceil(queries / 2));
  found = 0;
  const { node, wall } = await measured(() => run(queries));
  const each = (ms: number) => (ms / queries).toFixed(2).padStart(7);
  console.log(
    `${name.padEnd(26)} node ${each(node)} ms  wall ${each(wall)} ms  ${(found / queries).toFixed(1)} found`,
  );
}
await client.close();
for (const uid of [PAGE, TOPIC]) await send('DELETE', `/${names.alias(uid, 'published')}`);
