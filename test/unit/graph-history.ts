import fc from 'fast-check';
import type { LinkPlace, VarveEvent } from '../../shared/document/events.ts';
import { changed, created, deleted, discarded, published, unpublished } from './graph-fixture.ts';

/**
 * Random histories for the graph. A step names a document and an operation. `historyOf` turns it into an event that fits the state by
 * then, as the write side would. For example, an entry is created before it is changed.
 */
export type Step = {
  readonly kind: 'write' | 'publish' | 'unpublish' | 'discard' | 'delete';
  readonly type: TypeName;
  readonly document: number;
  readonly locale: 'en' | 'fr';
  readonly values: {
    readonly text: string | null;
    readonly place: 'none' | 'clear' | 'new' | 'kept';
    readonly other: number;
  };
  readonly operations: readonly Operation[];
};

type Operation = {
  readonly relation: number;
  readonly kind: 'set' | 'connect' | 'disconnect';
  readonly targets: readonly number[];
  readonly place: 'start' | 'end' | 'before' | 'after';
};

const TYPES = ['country', 'tag', 'menu', 'chef', 'restaurant', 'review', 'topic', 'article'] as const;
type TypeName = (typeof TYPES)[number];

const DRAFT_AND_PUBLISH: ReadonlySet<string> = new Set(['menu', 'chef', 'restaurant', 'article']);
const LOCALIZED: ReadonlySet<string> = new Set(['topic', 'article']);

/** Relation attributes of each type with their targets, from both sides. */
const RELATIONS: { readonly [type in TypeName]: readonly (readonly [string, TypeName])[] } = {
  country: [['chefs', 'chef']],
  tag: [['restaurants', 'restaurant']],
  menu: [['restaurant', 'restaurant']],
  chef: [
    ['country', 'country'],
    ['mentor', 'chef'],
    ['mentees', 'chef'],
    ['restaurants', 'restaurant'],
  ],
  restaurant: [
    ['chef', 'chef'],
    ['menu', 'menu'],
    ['tags', 'tag'],
    ['similar', 'restaurant'],
    ['reviews', 'review'],
  ],
  review: [['restaurant', 'restaurant']],
  topic: [],
  article: [
    ['author', 'chef'],
    ['topics', 'topic'],
  ],
};

const DOCUMENTS = 3;

export function steps(): fc.Arbitrary<readonly Step[]> {
  const operation = fc.record({
    relation: fc.nat(9),
    kind: fc.constantFrom('set', 'connect', 'connect', 'disconnect'),
    targets: fc.array(fc.nat(DOCUMENTS - 1), { maxLength: 3 }),
    place: fc.constantFrom('start', 'end', 'end', 'before', 'after'),
  });
  const step = fc.record({
    kind: fc.constantFrom(
      'write',
      'write',
      'write',
      'write',
      'publish',
      'publish',
      'unpublish',
      'discard',
      'delete',
    ),
    type: fc.constantFrom(...TYPES, 'chef', 'restaurant', 'restaurant', 'article', 'article'),
    document: fc.nat(DOCUMENTS - 1),
    locale: fc.constantFrom('en', 'fr'),
    values: fc.record({
      text: fc.constantFrom(null, 'a', 'é"\\', ''),
      place: fc.constantFrom('none', 'clear', 'new', 'new', 'kept'),
      other: fc.nat(DOCUMENTS - 1),
    }),
    operations: fc.array(operation, { maxLength: 2 }),
  }) as fc.Arbitrary<Step>;
  return fc.array(step, { minLength: 5, maxLength: 60, size: 'max' });
}

type Known = { readonly rows: Map<string, { published: boolean }> };

export function historyOf(history: readonly Step[]): readonly VarveEvent[] {
  const known: Known = { rows: new Map() };
  return history.flatMap((step) => {
    const event = eventOf(step, known);
    return event === undefined ? [] : [event];
  });
}

function eventOf(step: Step, { rows }: Known): VarveEvent | undefined {
  const { type, kind } = step;
  const documentId = `${type}${step.document}`;
  const locale = LOCALIZED.has(type) ? step.locale : null;
  const key = `${documentId}/${locale}`;
  const row = rows.get(key);
  const isDraftable = DRAFT_AND_PUBLISH.has(type);
  if (kind === 'write' || row === undefined) {
    const edit = editOf(step, locale);
    if (row !== undefined) return changed(type, documentId, edit, locale);
    rows.set(key, { published: false });
    return created(type, documentId, edit, locale);
  }
  switch (kind) {
    case 'publish':
      if (!isDraftable) return undefined;
      row.published = true;
      return published(type, documentId, locale);
    case 'unpublish':
      if (!row.published) return undefined;
      row.published = false;
      return unpublished(type, documentId, locale);
    case 'discard':
      return row.published ? discarded(type, documentId, locale) : undefined;
    case 'delete':
      rows.delete(key);
      return deleted(type, documentId, locale);
  }
}

function editOf(
  step: Step,
  locale: string | null,
): { values: never; shared: string[]; relations: unknown[] } {
  const { type, values, operations } = step;
  const edited: Record<string, unknown> = {};
  if (type === 'country' || type === 'chef' || type === 'restaurant') edited['name'] = values.text;
  if (type === 'article') Object.assign(edited, { title: values.text, code: values.text });
  const component = type === 'restaurant' ? 'address' : type === 'article' ? 'place' : undefined;
  if (component !== undefined && values.place !== 'none') edited[component] = componentOf(step);
  if (type === 'restaurant' && values.place === 'new') {
    edited['sections'] = [
      { __component: 'blocks.teaser', label: 'x', chefs: [target('chef', values.other, locale)] },
      { __component: 'common.geo', lat: 1 },
    ];
  }
  const shared = type === 'article' ? ['code', 'place'].filter((name) => name in edited) : [];
  const relations =
    RELATIONS[type].length === 0 ? [] : operations.map((each) => operationOf(type, each, locale));
  return { values: edited as never, shared, relations };
}

function componentOf({ values }: Step): unknown {
  if (values.place === 'clear') return null;
  const country = [target('country', values.other, null)];
  // The id may belong to any component. It is kept only if the component is the row's own.
  const id = values.place === 'kept' ? { id: values.other + 1 } : {};
  return { ...id, city: values.text, geo: { lat: values.other }, country };
}

function operationOf(type: TypeName, operation: Operation, locale: string | null): unknown {
  const relations = RELATIONS[type];
  const [attribute, targetType] = relations[operation.relation % relations.length] ?? ['', 'tag'];
  const targets = operation.targets.map((document) => target(targetType as TypeName, document, locale));
  if (operation.kind === 'set') return { attribute, kind: 'set', targets };
  if (operation.kind === 'disconnect') return { attribute, kind: 'update', disconnect: targets, connect: [] };
  const place: LinkPlace =
    operation.place === 'start' || operation.place === 'end'
      ? { at: operation.place }
      : { at: operation.place, ...target(targetType as TypeName, operation.relation % DOCUMENTS, locale) };
  return {
    attribute,
    kind: 'update',
    disconnect: targets.slice(1),
    connect: targets.slice(0, 2).map((each) => ({ target: each, place })),
  };
}

function target(type: TypeName, document: number, locale: string | null) {
  return { documentId: `${type}${document}`, locale: LOCALIZED.has(type) ? locale : null };
}
