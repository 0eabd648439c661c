import fc from 'fast-check';
import type { VarveEvent } from '../../shared/document/events.ts';
import type { Json } from '../../shared/json.ts';
import { DEFINITIONS, definition, SCHEMAS, uid } from './graph-fixture.ts';
import { historyOf, type Step } from './graph-history.ts';

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
export const ATTRIBUTE_CHANGES: readonly Change[] = [
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
export const ROW_CHANGES: readonly Change[] = [
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

/** Random changes, with their places and lengths in hundredths of a history. */
export function typeChanges(from: readonly Change[]) {
  return fc.array(fc.record({ change: fc.constantFrom(...from), at: fc.nat(99), length: fc.nat(60) }), {
    minLength: 1,
    maxLength: 4,
  });
}
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
export function placeChanges(history: readonly Step[], wanted: readonly Placed[]) {
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
