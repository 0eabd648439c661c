import { createKnownFaults } from '../../shared/read-index/elasticsearch/indices/known-faults.ts';
import { createLayout } from '../../shared/read-index/elasticsearch/layout/create-layout.ts';
import {
  DEFAULT_DENORMALISE,
  type DenormaliseSettings,
  type DocumentLayout,
} from '../../shared/read-index/elasticsearch/layout/document-layout.ts';
import { indexDefinition } from '../../shared/read-index/elasticsearch/layout/index-definition.ts';
import {
  createIndexNames,
  type IndexNames,
} from '../../shared/read-index/elasticsearch/layout/index-names.ts';
import {
  createElasticsearchReader,
  type ElasticsearchReader,
} from '../../shared/read-index/elasticsearch/read/elasticsearch-reader.ts';
import type { RowCache } from '../../shared/read-index/elasticsearch/read/row-cache.ts';
import { createElasticsearchClient } from '../../shared/read-index/elasticsearch/wire/client.ts';
import {
  createSearchEngine,
  type SearchEngine,
} from '../../shared/read-index/elasticsearch/wire/search-engine.ts';
import { type ReadIndex, WORLDS, type World } from '../../shared/read-index/read-index.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { elasticsearchUrl } from './elasticsearch.ts';
import { createRowModel } from './elasticsearch-model.ts';

export type TestIndex = ReadIndex & { readonly reader: ElasticsearchReader; readonly engine: SearchEngine };

/** Limits of `createElasticsearchReader`. */
export type TestLimits = {
  readonly semiJoinLimit: number;
  readonly sortLimit: number;
  readonly groupLimit: number;
  readonly rows: RowCache;
};

/** Indices of one schema. They are created once, and emptied for each index that is opened. Only one can be open. */
export type TestIndices = {
  open(limits?: Partial<TestLimits>): Promise<TestIndex>;
  remove(): Promise<void>;
};

let made = 0;

/** Creates real indices. A model of rows and links applies batches, and writes every changed document after each batch. */
export async function createTestIndices(
  registry: SchemaRegistry,
  denormalise: DenormaliseSettings = DEFAULT_DENORMALISE,
  mostCopies?: number,
): Promise<TestIndices> {
  const url = await elasticsearchUrl();
  const space = `test_${process.pid}_${++made}`;
  const names = createIndexNames(space);
  const layouts = new Map<Uid, DocumentLayout>(
    [...registry.contentTypes.keys()].map((type) => [
      type,
      createLayout(registry, type, denormalise, mostCopies),
    ]),
  );
  const indices = [...layouts.values()].flatMap((layout) => WORLDS.map((world) => ({ layout, world })));
  for (const { layout, world } of indices) {
    await send(url, 'PUT', `/${names.alias(layout.type, world)}`, JSON.stringify(indexDefinition(layout)));
  }
  // The indices have the names of the aliases.
  const set = Object.fromEntries(
    indices.map(({ layout, world }) => [names.alias(layout.type, world), names.alias(layout.type, world)]),
  );
  const client = createElasticsearchClient({ url });
  const written: Written = { bodies: new Map(), version: 0, findable: Promise.resolve() };
  return {
    async open(limits = {}) {
      await write(url, written, new Map());
      const engine = createSearchEngine(client);
      const layoutOf = (type: Uid) => layouts.get(type) as DocumentLayout;
      const reader = createElasticsearchReader({
        indices: { get: () => set, refresh: async () => set },
        faults: createKnownFaults(),
        engine,
        names,
        layouts: layoutOf,
        semiJoinLimit: 1_000_000,
        sortLimit: 10_000,
        groupLimit: 10_000,
        ...limits,
      });
      const model = createRowModel(registry);
      let position = 0n;
      return {
        reader,
        engine,
        async apply(batch) {
          if (batch.position < position) return;
          model.apply(batch);
          await write(url, written, allDocuments(model, indices, names));
          position = batch.position;
        },
        position: () => position,
        search: async (request) => {
          await findable(url, written, space);
          return reader.search(request);
        },
        searchMany: async (requests) => {
          await findable(url, written, space);
          return reader.searchMany(requests);
        },
        traverse: async (request) => {
          await findable(url, written, space);
          return reader.traverse(request);
        },
        answer: reader.answer,
        async explain(request) {
          await findable(url, written, space);
          return reader.explain(request);
        },
        close: async () => {},
      };
    },
    async remove() {
      await client.close();
      for (const { layout, world } of indices)
        await send(url, 'DELETE', `/${names.alias(layout.type, world)}`);
    },
  };
}

type Written = {
  /** Documents in the indices, as JSON by `<index> <id>`. */
  bodies: ReadonlyMap<string, string>;
  version: number;
  /** Resolves when searches find the documents. undefined: they changed since the last refresh. */
  findable: Promise<unknown> | undefined;
};

/** Refreshes the indices before a search, if documents were written. A refresh costs a segment per index, so writes do not refresh. */
async function findable(url: string, written: Written, space: string): Promise<void> {
  written.findable ??= send(url, 'POST', `/${space}-*/_refresh`);
  await written.findable;
}

function allDocuments(
  model: ReturnType<typeof createRowModel>,
  indices: readonly { readonly layout: DocumentLayout; readonly world: World }[],
  names: IndexNames,
): ReadonlyMap<string, string> {
  const bodies = new Map<string, string>();
  for (const { layout, world } of indices) {
    for (const [key, body] of model.documents(layout, world)) {
      bodies.set(`${names.alias(layout.type, world)} ${key}`, JSON.stringify(body));
    }
  }
  return bodies;
}

/** Changes the indices with one bulk request, so that they hold exactly `bodies`. */
async function write(url: string, written: Written, bodies: ReadonlyMap<string, string>): Promise<void> {
  const lines: string[] = [];
  const version = ++written.version;
  const action = (name: string) => {
    const [_index, _id] = name.split(' ');
    return { _index, _id, version, version_type: 'external' };
  };
  for (const name of written.bodies.keys()) {
    if (!bodies.has(name)) lines.push(JSON.stringify({ delete: action(name) }));
  }
  for (const [name, body] of bodies) {
    if (written.bodies.get(name) !== body) lines.push(JSON.stringify({ index: action(name) }), body);
  }
  written.bodies = bodies;
  if (lines.length === 0) return;
  written.findable = undefined;
  const answer = (await send(url, 'POST', '/_bulk', `${lines.join('\n')}\n`)) as {
    readonly errors: boolean;
  };
  if (answer.errors) throw new Error(`bulk: ${JSON.stringify(answer).slice(0, 2000)}`);
}

async function send(url: string, method: string, path: string, body?: string): Promise<unknown> {
  const headers = { 'content-type': path.startsWith('/_bulk') ? 'application/x-ndjson' : 'application/json' };
  const response = await fetch(`${url}${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
  const answer = await response.json();
  if (!response.ok)
    throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer).slice(0, 2000)}`);
  return answer;
}
