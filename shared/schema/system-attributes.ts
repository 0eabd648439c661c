import type { ContentType, Model, RelationAttribute, ScalarAttribute, ScalarType } from './content-type.ts';

/** Attributes of a row in addition to those of its schema. */

const scalars = new WeakMap<Model, ReadonlyMap<string, ScalarAttribute>>();
const localizations = new WeakMap<ContentType, RelationAttribute>();

/**
 * Attributes of a row that a request may filter, sort by and select, in the order of an answer: id, documentId, the
 * public scalars of the schema, timestamps, locale. A component has only id and its own. Computed once per model.
 */
export function queryableScalars(model: Model): ReadonlyMap<string, ScalarAttribute> {
  const known = scalars.get(model);
  if (known !== undefined) return known;
  const attributes = new Map<string, ScalarAttribute>();
  for (const attribute of scalarsInOrder(model)) attributes.set(attribute.name, attribute);
  scalars.set(model, attributes);
  return attributes;
}

function scalarsInOrder(model: Model): ScalarAttribute[] {
  const own = [...model.attributes.values()].filter(isPublicScalar);
  if (!isContentType(model)) return [systemScalar('id', 'integer'), ...own];
  return [
    systemScalar('id', 'integer'),
    systemScalar('documentId', 'string'),
    ...own,
    systemScalar('createdAt', 'datetime'),
    systemScalar('updatedAt', 'datetime'),
    systemScalar('publishedAt', 'datetime'),
    ...(model.localized ? [systemScalar('locale', 'string')] : []),
  ];
}

/** The one-way relation of a localized type's rows to the other locales of their document; undefined on other types. */
export function localizationsAttribute(type: ContentType): RelationAttribute | undefined {
  if (!type.localized) return undefined;
  const known = localizations.get(type);
  if (known !== undefined) return known;
  const attribute: RelationAttribute = {
    ...systemBase('localizations'),
    kind: 'relation',
    relation: 'oneToMany',
    target: type.uid,
    toMany: true,
  };
  localizations.set(type, attribute);
  return attribute;
}

/** Returns whether a model is a content type; else it is a component. */
export function isContentType(model: Model): model is ContentType {
  return 'kind' in model;
}

function isPublicScalar(attribute: {
  readonly kind: string;
  readonly private: boolean;
}): attribute is ScalarAttribute {
  return attribute.kind === 'scalar' && !attribute.private;
}

function systemScalar(name: string, type: ScalarType): ScalarAttribute {
  return { ...systemBase(name), kind: 'scalar', type, unique: false, searchable: true };
}

function systemBase(name: string) {
  return { name, private: false, required: false, configurable: false, localized: true } as const;
}
