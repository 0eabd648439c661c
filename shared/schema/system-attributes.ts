import { remembered } from '../remembered.ts';
import type { ContentType, Model, RelationAttribute, ScalarAttribute, ScalarType } from './content-type.ts';
import { SYSTEM_TIMES } from './reserved-names.ts';

/** Attributes of a row in addition to those of its schema. */

/**
 * Returns the attributes of a row that a request may filter, sort by and select. They are in the order of an answer: id, documentId, the
 * public scalars of the schema, times that are not private, locale. A component has only id and its own. Computed once per model.
 */
export const queryableScalars = remembered(
  (model: Model): ReadonlyMap<string, ScalarAttribute> =>
    new Map(scalarsInOrder(model).map((attribute) => [attribute.name, attribute])),
);

function scalarsInOrder(model: Model): ScalarAttribute[] {
  const own = [...model.attributes.values()].flatMap((attribute) =>
    attribute.kind === 'scalar' && !attribute.private ? [attribute] : [],
  );
  if (!isContentType(model)) return [systemScalar('id', 'integer'), ...own];
  return [
    systemScalar('id', 'integer'),
    systemScalar('documentId', 'string'),
    ...own,
    ...SYSTEM_TIMES.flatMap((name) =>
      model.privateTimes?.includes(name) ? [] : [systemScalar(name, 'datetime')],
    ),
    ...(model.localized ? [systemScalar('locale', 'string')] : []),
  ];
}

/** Returns the one-way relation of a localized type's rows to the other locales of their document; undefined for other types. */
export function localizationsAttribute(type: ContentType): RelationAttribute | undefined {
  return type.localized ? otherLocales(type) : undefined;
}

const otherLocales = remembered(
  ({ uid }: ContentType): RelationAttribute => ({
    ...systemBase('localizations'),
    kind: 'relation',
    relation: 'oneToMany',
    target: uid,
    toMany: true,
  }),
);

/** Returns whether a model is a content type; otherwise it is a component. */
export function isContentType(model: Model): model is ContentType {
  return 'kind' in model;
}

function systemScalar(name: string, type: ScalarType): ScalarAttribute {
  return { ...systemBase(name), kind: 'scalar', type, unique: false, searchable: true };
}

function systemBase(name: string) {
  return { name, private: false, required: false, configurable: false, localized: true } as const;
}
