import { valueAt } from '../../../shared/map-values.ts';
import {
  DOCUMENT_PUBLISHED_FIELD,
  type FieldType,
  PUBLICATION_STATE_FIELD,
  type PublicationState,
  type Scalar,
} from '../../../shared/read-index/bool-query.ts';
import { columnValue, fieldTypeOf } from '../../../shared/read-index/column.ts';
import type { IndexedComponent, IndexedRow } from '../../../shared/read-index/read-index.ts';
import {
  type AttributeWithComponents,
  attributesWithComponents,
} from '../../../shared/schema/component-uids.ts';
import type { ContentType, Model, ScalarAttribute, Uid } from '../../../shared/schema/content-type.ts';
import { componentOf, type SchemaRegistry } from '../../../shared/schema/schema-registry.ts';

/** Values by attribute name; null and absent are the same. */
export type Values = { readonly [attribute: string]: unknown };

/** A component as stored: id, scalars, nested components; `__component` in a dynamic zone. Its relations are links. */
export type StoredComponent = { readonly id: number; readonly __component?: Uid } & Values;

/** Members of a row's response besides its attributes. Times are ISO 8601. */
export type RowFacts = {
  readonly id: number;
  readonly documentId: string;
  readonly locale: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly publishedAt: string | null;
};

/** Facts about the row's document that follow from the log, not from the row. */
export type PublicationFacts = {
  readonly state: PublicationState;
  /** True if some locale of the document has a published row. */
  readonly documentPublished: boolean;
};

/** Converts rows of one content type for the read index. Pure. */
export type RowPresenter = {
  /**
   * JSON of a row as the graph stores it, in Strapi's member order (SEMANTICS section 12): id, documentId, public scalars in schema order,
   * createdAt, updatedAt, publishedAt, and on localized types locale.
   */
  source(facts: RowFacts, scalars: Values): string;
  /** Returns the response JSON: a source without the times that are private. */
  shown(source: string): string;
  /** Returns the columns. `values` may be the parsed source: only public scalars are read. */
  fields(facts: RowFacts, values: Values, publication: PublicationFacts): IndexedRow['fields'];
  /** Returns the columns from the parsed source, which it changes: most of it is already in the right form. */
  fieldsOfSource(parsed: RowFacts & Values, publication: PublicationFacts): IndexedRow['fields'];
  components(values: Values): IndexedRow['components'];
};

type ComponentPresenter = {
  readonly scalars: readonly ScalarAttribute[];
  readonly nested: readonly AttributeWithComponents[];
};

/** Types whose JSON value is the column's value. */
const PLAIN_TYPES: { readonly [type in FieldType]?: 'string' | 'number' | 'boolean' } = {
  keyword: 'string',
  number: 'number',
  boolean: 'boolean',
};

const NO_COMPONENTS: IndexedRow['components'] = Object.freeze({});

/** Creates the presenter of a type. It computes everything that depends only on the type once, because there are many rows. */
export function createRowPresenter(registry: SchemaRegistry, type: ContentType): RowPresenter {
  const { scalars, nested } = publicAttributes(type);
  const checked = scalars.map(({ name, type: scalarType }) => ({
    name,
    type: scalarType,
    plain: PLAIN_TYPES[fieldTypeOf(scalarType)],
  }));
  const prefixes = scalars.map(({ name }) => `,${JSON.stringify(name)}:`);
  const components = createComponentsPresenter(registry);
  const hidden = type.privateTimes ?? [];
  const hiddenMembers = new RegExp(`,"(?:${hidden.join('|')})":(?:"[^"]*"|null)`, 'g');
  // The template is copied for each row, because adding two dozen members one by one takes several times as long.
  const template: Record<string, Scalar | null> = Object.fromEntries(
    [...scalars.map(({ name }) => name), ...systemFields(type)].map((name) => [name, null]),
  );
  return {
    source(facts, values) {
      let text = `{"id":${facts.id},"documentId":${JSON.stringify(facts.documentId)}`;
      for (let i = 0; i < scalars.length; i++) {
        text += prefixes[i] + jsonOf(values[(scalars[i] as ScalarAttribute).name]);
      }
      text += `,"createdAt":"${facts.createdAt}","updatedAt":"${facts.updatedAt}","publishedAt":`;
      text += facts.publishedAt === null ? 'null' : `"${facts.publishedAt}"`;
      if (type.localized) text += `,"locale":${jsonOf(facts.locale)}`;
      return `${text}}`;
    },
    shown: (source) => (hidden.length === 0 ? source : withoutTimes(source, hiddenMembers)),
    fields(facts, values, publication) {
      const fields = { ...template };
      for (const { name, type: scalarType } of scalars) fields[name] = columnValue(scalarType, values[name]);
      fields['id'] = facts.id;
      fields['documentId'] = facts.documentId;
      fields['createdAt'] = Date.parse(facts.createdAt);
      fields['updatedAt'] = Date.parse(facts.updatedAt);
      fields['publishedAt'] = facts.publishedAt === null ? null : Date.parse(facts.publishedAt);
      if (type.localized) fields['locale'] = facts.locale;
      fields[PUBLICATION_STATE_FIELD] = publication.state;
      fields[DOCUMENT_PUBLISHED_FIELD] = publication.documentPublished;
      for (const name of hidden) delete fields[name];
      return fields;
    },
    fieldsOfSource(parsed, publication) {
      const fields = parsed as unknown as Record<string, Scalar | null>;
      for (const { name, type: scalarType, plain } of checked) {
        const value = fields[name];
        if (value !== null && typeof value !== plain) fields[name] = columnValue(scalarType, value);
      }
      const created = Date.parse(parsed.createdAt);
      const { updatedAt, publishedAt } = parsed;
      // Comparing the texts takes a tenth of the time of parsing a date.
      fields['updatedAt'] = updatedAt === parsed.createdAt ? created : Date.parse(updatedAt);
      fields['createdAt'] = created;
      if (publishedAt !== null) fields['publishedAt'] = Date.parse(publishedAt);
      fields[PUBLICATION_STATE_FIELD] = publication.state;
      fields[DOCUMENT_PUBLISHED_FIELD] = publication.documentPublished;
      for (const name of hidden) delete fields[name];
      return fields;
    },
    components: (values) => (nested.length === 0 ? NO_COMPONENTS : components(nested, values)),
  };
}

/** A name in quotes after a comma is a member: a quote in a text is escaped. The row's own times are the last ones. */
function withoutTimes(source: string, members: RegExp): string {
  const start = source.lastIndexOf(',"createdAt":');
  return source.slice(0, start) + source.slice(start).replace(members, '');
}

function systemFields({ localized }: ContentType): readonly string[] {
  const times = ['createdAt', 'updatedAt', 'publishedAt', ...(localized ? ['locale'] : [])];
  return ['id', 'documentId', ...times, PUBLICATION_STATE_FIELD, DOCUMENT_PUBLISHED_FIELD];
}

/** Scalars and component attributes that answers may show, in schema order. */
function publicAttributes(model: Model): ComponentPresenter {
  const shown = [...model.attributes.values()].filter((attribute) => !attribute.private);
  return {
    scalars: shown.filter((attribute) => attribute.kind === 'scalar'),
    nested: attributesWithComponents(model).filter((attribute) => !attribute.private),
  };
}

type PresentComponents = (
  attributes: readonly AttributeWithComponents[],
  values: Values,
) => IndexedRow['components'];

function createComponentsPresenter(registry: SchemaRegistry): PresentComponents {
  const presenters = new Map<Uid, ComponentPresenter>();
  const presenterOf = (uid: Uid): ComponentPresenter =>
    valueAt(presenters, uid, () => publicAttributes(componentOf(registry, uid)));
  const present = (uid: Uid, value: StoredComponent, inZone: boolean): IndexedComponent => {
    const { scalars, nested } = presenterOf(uid);
    const fields: Record<string, Scalar | null> = { id: value.id };
    let text = inZone ? `{"__component":${JSON.stringify(uid)},"id":${value.id}` : `{"id":${value.id}`;
    for (const { name, type } of scalars) {
      text += `,${JSON.stringify(name)}:${jsonOf(value[name])}`;
      fields[name] = columnValue(type, value[name]);
    }
    const source = Buffer.from(`${text}}`);
    return { component: uid, key: value.id, source, fields, components: presentAll(nested, value) };
  };
  const presentAll: PresentComponents = (attributes, values) => {
    const components: Record<string, readonly IndexedComponent[]> = {};
    for (const attribute of attributes) {
      components[attribute.name] = componentList(values[attribute.name]).map((value) =>
        present(componentUid(attribute, value), value, attribute.kind === 'dynamiczone'),
      );
    }
    return components;
  };
  return presentAll;
}

/** Components of an attribute's value, whether it has one, several or none. */
export function componentList(value: unknown): readonly StoredComponent[] {
  if (value === null || value === undefined) return [];
  return Array.isArray(value) ? value : [value as StoredComponent];
}

/** Component of a value of the attribute. */
export function componentUid(attribute: AttributeWithComponents, value: { readonly __component?: Uid }): Uid {
  if (attribute.kind === 'component') return attribute.component;
  if (value.__component === undefined)
    throw new Error(`a component in ${attribute.name} does not name its kind`);
  return value.__component;
}

function jsonOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  return typeof value === 'number' ? String(value) : JSON.stringify(value);
}
