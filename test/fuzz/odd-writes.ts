import type {
  Attribute,
  ContentType,
  Model,
  RelationAttribute,
  ScalarAttribute,
} from '../../shared/schema/content-type.ts';
import { componentOf, contentTypeOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { Random } from '../support/naive-random.ts';
import { emptyValue, hugeText, longText, oddJson, oddScalar, oddText, raw } from './odd-values.ts';

export type OddWrite = {
  readonly method: 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body: string | undefined;
  /** Key of a write that may create a document. With the same key, two servers give it the same id. */
  readonly key: string | undefined;
};

/** A scalar that a write has sent, and the place that a filter names, such as `[list][title]`. */
export type WrittenValue = {
  readonly type: ContentType;
  readonly place: string;
  readonly attribute: ScalarAttribute;
  readonly value: unknown;
};

export type OddWrites = {
  next(): OddWrite;
  /** Notes what a write has answered. */
  note(write: OddWrite, status: number, body: unknown): void;
  /** Returns removals of the documents that are too large to stay. */
  removals(): readonly OddWrite[];
  /** Returns the removal of a document, a thing or the setting. */
  removal(documentId: string): OddWrite;
  /** The last values that were sent. */
  written(): readonly WrittenValue[];
  documents(): readonly string[];
};

export type OddSource = {
  readonly random: Random;
  readonly registry: SchemaRegistry;
  /** Begin of the keys of writes. */
  readonly name: string;
  /** Ids of some tags. */
  readonly tags: readonly string[];
};

/** Tags that exist, with these row ids. */
export const ODD_TAGS = 12_000;
const MANY = [100, 900, 999, 1_000, 1_001, 1_500, 3_000];
const MOST = [9_990, 10_001, ODD_TAGS];
const LARGE_BODY = 150_000;
const MOST_DOCUMENTS = 60;
const LOCALES = ['en', 'de', 'it'];
const ACTIONS = ['publish', 'publish', 'unpublish', 'discard-draft'];
/** Bodies of requests without a document. */
const NO_DOCUMENTS = [
  '',
  '{',
  'null',
  '[]',
  '"x"',
  '1',
  '{}',
  '{"data":null}',
  '{"data":[]}',
  '{"data":"x"}',
  '{"data":{}}',
  '{"data":{"title":"a"}}x',
  '{"data":{"title":"a","title":"b"}}',
  '{"data":{"__proto__":{"a":1}}}',
  '{"data":{"none":1}}',
  '{"data":{"id":1,"documentId":"x"}}',
  '{"data":{"locale":"xx"}}',
  '{"data":{"createdAt":"x","updatedAt":null,"publishedAt":1}}',
  '\ufeff{"data":{}}',
  `{"data":${'['.repeat(50_000)}`,
];

/** Creates writes of things, tags and the setting of `writeOddTypes`. The same seed and the same answers make the same writes. */
export function createOddWrites({ random, registry, name, tags }: OddSource): OddWrites {
  const thing = contentTypeOf(registry, 'api::thing.thing');
  const tag = contentTypeOf(registry, 'api::tag.tag');
  const setting = contentTypeOf(registry, 'api::setting.setting');
  const things: string[] = [];
  /** Ids of all things that were created. One that was deleted in one locale may have others. */
  const created = new Set<string>();
  const large = new Set<string>();
  const written: WrittenValue[] = [];
  let made = 0;
  const context: Context = { random, registry, things, written };
  const put = (type: ContentType, path: string, body: string | undefined): OddWrite => ({
    method: 'PUT',
    path: `${path}${queryOf(random, type)}`,
    body,
    key: type === setting ? `${name}-${++made}` : undefined,
  });
  const body = (type: ContentType, isNew: boolean): string =>
    random.chance(0.04) ? random.pick(NO_DOCUMENTS) : oddJson({ data: dataOf(context, type, isNew) });
  const target = (): string => (things.length === 0 || random.chance(0.02) ? 'nobody' : random.pick(things));
  const make = (): OddWrite => {
    const path = `/api/things${queryOf(random, thing)}`;
    return { method: 'POST', path, body: body(thing, true), key: `${name}-${++made}` };
  };
  return {
    next() {
      const kind = random.next();
      if (things.length < 3 || (kind < 0.3 && things.length < MOST_DOCUMENTS)) return make();
      if (kind < 0.62) return put(thing, `/api/things/${target()}`, body(thing, false));
      if (kind < 0.68) return put(setting, '/api/setting', body(setting, false));
      if (kind < 0.74) return put(tag, `/api/tags/${random.pick(tags)}`, body(tag, false));
      if (kind < 0.86) {
        const query = random.chance(0.6) ? '' : `?locale=${random.pick([...LOCALES, '*', 'xx'])}`;
        const path = `/api/things/${target()}/actions/${random.pick(ACTIONS)}${query}`;
        return { method: 'POST', path, body: undefined, key: undefined };
      }
      if (kind < 0.88) return NO_SETTING;
      return removal(`${target()}${random.pick(['', '', '', '?locale=de', '?locale=*'])}`);
    },
    note({ method, path, body: sent }, status, answer) {
      const id = documentIdOf(answer) ?? /^\/api\/things\/(\w+)/.exec(path)?.[1];
      if (id === undefined || status >= 400 || path.startsWith('/api/setting')) return;
      if (method === 'POST' && !path.includes('/actions/')) {
        things.push(id);
        created.add(id);
      }
      if (method === 'DELETE') remove(things, id);
      if ((sent?.length ?? 0) > LARGE_BODY) large.add(id);
    },
    removals() {
      const ids = [...large].filter((id) => created.has(id));
      large.clear();
      return ids.map((id) => removal(`${id}?locale=*`));
    },
    removal: (id) => (created.has(id) ? removal(`${id}?locale=*`) : NO_SETTING),
    written: () => written,
    documents: () => things,
  };
}

const NO_SETTING: OddWrite = { method: 'DELETE', path: '/api/setting', body: undefined, key: undefined };

function removal(target: string): OddWrite {
  return { method: 'DELETE', path: `/api/things/${target}`, body: undefined, key: undefined };
}

function remove(things: string[], id: string): void {
  const at = things.indexOf(id);
  if (at >= 0) things.splice(at, 1);
}

function documentIdOf(answer: unknown): string | undefined {
  return (answer as { readonly data?: { readonly documentId?: string } | null } | undefined)?.data
    ?.documentId;
}

function queryOf(random: Random, type: ContentType): string {
  const parts = [
    ...(random.chance(0.35) ? ['status=draft'] : []),
    ...(type.localized && random.chance(0.3) ? [`locale=${random.pick(LOCALES)}`] : []),
    ...(random.chance(0.3) ? ['populate=*'] : []),
  ];
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}

type Context = {
  readonly random: Random;
  readonly registry: SchemaRegistry;
  readonly things: readonly string[];
  readonly written: WrittenValue[];
};
type Place = { readonly type: ContentType; readonly key: string; readonly depth: number };

const MOST_WRITTEN = 300;

/** Returns the data of a write: some odd values, or one part that is huge, deep or has many parts. */
function dataOf(context: Context, type: ContentType, isNew: boolean): object {
  const { random } = context;
  const attributes = [...type.attributes.values()];
  const chosen = random.sample(attributes, random.between(1, isNew ? 7 : 3));
  const place = { type, key: '', depth: 0 };
  const data = Object.fromEntries(
    chosen.map((attribute) => [attribute.name, oddValue(context, attribute, place)]),
  );
  return random.chance(0.08) ? { ...data, ...largePart(context, type) } : data;
}

function largePart(context: Context, type: ContentType): object {
  const { random } = context;
  const count = random.chance(0.15) ? random.pick(MOST) : random.pick(MANY);
  const from = random.between(0, ODD_TAGS - count) + 1;
  const kind = random.next();
  const place = { type, key: '', depth: 0 };
  if (kind < 0.15) return { body: hugeText(random) };
  if (kind < 0.3) return { body: longText(random).repeat(random.between(1, 8)), story: longText(random) };
  if (kind < 0.5) return { tags: Array.from({ length: count }, (_, n) => from + n) };
  if (kind < 0.55) return { tags: { connect: Array.from({ length: count }, (_, n) => ({ id: from + n })) } };
  if (kind < 0.75)
    return { list: Array.from({ length: count }, (_, n) => ({ title: `part ${n % 50}`, ratio: n })) };
  if (kind < 0.85)
    return { zone: Array.from({ length: count }, (_, n) => ({ __component: 'odd.leaf', title: `z ${n}` })) };
  if (kind < 0.93)
    return {
      zone: Array.from({ length: 30 }, () => nodeOf(context, 'odd.top', { ...place, key: '[zone]' }, true)),
    };
  return { extra: raw(`{"a":${'['.repeat(96)}${'1,'.repeat(count)}1${']'.repeat(96)}}`) };
}

function oddValue(context: Context, attribute: Attribute, place: Place): unknown {
  const { random } = context;
  if (random.chance(0.02)) return emptyValue(random);
  const key = `${place.key}[${attribute.name}]`;
  switch (attribute.kind) {
    case 'scalar': {
      const value = oddScalar(random, attribute);
      if (!attribute.private)
        noteWritten(context.written, { type: place.type, place: key, attribute, value });
      return value;
    }
    case 'relation':
      return linksOf(context, attribute);
    case 'component': {
      const node = () => nodeOf(context, attribute.component, { ...place, key });
      return attribute.repeatable ? Array.from({ length: random.between(0, 3) }, node) : node();
    }
    default:
      return Array.from({ length: random.between(0, 3) }, () => {
        const kind = random.pick(attribute.components);
        return nodeOf(context, kind, { ...place, key: `${key}[on][${kind}]` }, true);
      });
  }
}

function noteWritten(written: WrittenValue[], value: WrittenValue): void {
  written.push(value);
  if (written.length > MOST_WRITTEN) written.shift();
}

function nodeOf(context: Context, uid: string, place: Place, isInZone = false): object {
  const { random, registry } = context;
  const model: Model = componentOf(registry, uid);
  const inner = { ...place, depth: place.depth + 1 };
  const chosen = [...model.attributes.values()].filter((attribute) =>
    random.chance(attribute.kind === 'scalar' ? 0.35 : 0.3),
  );
  const values = chosen.map((attribute) => [attribute.name, oddValue(context, attribute, inner)]);
  const kind = isInZone && !random.chance(0.01) ? { __component: uid } : {};
  const id = random.chance(0.02) ? { id: random.pick([1, 7, 'x', null, -1, '3']) } : {};
  return { ...kind, ...id, ...Object.fromEntries(values) };
}

function linksOf({ random, things }: Context, { target, toMany }: RelationAttribute): unknown {
  const one = (): unknown => {
    const id = random.between(1, 40);
    if (random.chance(0.02))
      return random.pick(['nobody', 99_999, -1, 1.5, '', null, {}, { id: 'x' }, oddText(random)]);
    if (target === 'api::tag.tag') return random.pick([id, { id }, String(id)]);
    const documentId = things.length === 0 ? 'nobody' : random.pick(things);
    return random.pick<unknown>([documentId, documentId, { documentId }, { documentId, locale: 'de' }]);
  };
  const some = () => Array.from({ length: random.between(0, 4) }, one);
  const kind = random.next();
  if (!toMany && kind < 0.6) return one();
  if (kind < 0.5) return some();
  const position = random.pick([{ start: true }, { end: true }, { before: one() }, { after: one() }]);
  const placed = things.length === 0 ? [] : [{ documentId: random.pick(things), position }];
  const [connect, disconnect] = [some(), some()];
  return random.pick([
    { connect },
    { disconnect },
    { set: some() },
    { connect, disconnect },
    { connect: placed },
  ]);
}
