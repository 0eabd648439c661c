import type { SystemTime } from './reserved-names.ts';
import type { SearchRule } from './search-rules.ts';

/** Content types of a Strapi project, in the form that the rest of Varve uses. */

/**
 * Name of a type, such as `api::restaurant.restaurant` or `plugin::users-permissions.user`, or of a component, such as `common.address`.
 */
export type Uid = string;

/** The built-in types (see built-in-types.ts). */
export const USER_TYPE: Uid = 'plugin::users-permissions.user';
export const FILE_TYPE: Uid = 'plugin::upload.file';

export const SCALAR_TYPES = [
  'string',
  'text',
  'richtext',
  'blocks',
  'email',
  'password',
  'uid',
  'enumeration',
  'integer',
  'biginteger',
  'decimal',
  'float',
  'boolean',
  'date',
  'time',
  'datetime',
  'json',
] as const;

export type ScalarType = (typeof SCALAR_TYPES)[number];

type AttributeBase = {
  readonly name: string;
  /** True if the attribute is never in an answer, a filter, a sort or a served index. Passwords are always private. */
  readonly private: boolean;
  readonly required: boolean;
  readonly configurable: boolean;
  /** True if each locale has its own value; false if all locales share one. Always true on types without i18n. */
  readonly localized: boolean;
  /** Rule in JSON Logic (`conditions.visible`). While it is false, the attribute need not be complete. */
  readonly condition?: unknown;
  /** `pluginOptions.varve` of the attribute, as in the file. */
  readonly varve?: unknown;
};

export type ScalarAttribute = AttributeBase & {
  readonly kind: 'scalar';
  readonly type: ScalarType;
  readonly unique: boolean;
  /** Default value, which a create uses if the key is absent. */
  readonly default?: unknown;
  /** Minimum and maximum: numbers, or for `biginteger` decimal strings. */
  readonly min?: number | string;
  readonly max?: number | string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly regex?: string;
  readonly enum?: readonly string[];
  /** Attribute from which a `uid` is made. Only on `uid` attributes. */
  readonly targetField?: string;
  /** False excludes the attribute from `_q`. */
  readonly searchable: boolean;
};

export type RelationKind = 'oneToOne' | 'oneToMany' | 'manyToOne' | 'manyToMany';

/**
 * A relation, or a media attribute (a one-way relation to `plugin::upload.file`). The side without `mappedBy` owns the relation. A link is
 * named after the owner's attribute.
 */
export type RelationAttribute = AttributeBase & {
  readonly kind: 'relation';
  readonly relation: RelationKind;
  readonly target: Uid;
  readonly inversedBy?: string;
  readonly mappedBy?: string;
  /** True if this side shows a list. */
  readonly toMany: boolean;
  readonly media?: { readonly multiple: boolean; readonly allowedTypes: readonly string[] };
};

export type ComponentAttribute = AttributeBase & {
  readonly kind: 'component';
  readonly component: Uid;
  readonly repeatable: boolean;
  readonly min?: number;
  readonly max?: number;
};

export type DynamicZoneAttribute = AttributeBase & {
  readonly kind: 'dynamiczone';
  readonly components: readonly Uid[];
  readonly min?: number;
  readonly max?: number;
};

export type Attribute = ScalarAttribute | RelationAttribute | ComponentAttribute | DynamicZoneAttribute;

export type ContentType = {
  readonly uid: Uid;
  readonly kind: 'collectionType' | 'singleType';
  readonly singularName: string;
  readonly pluralName: string;
  readonly displayName: string;
  readonly draftAndPublish: boolean;
  /** True if `pluginOptions.i18n.localized` is. */
  readonly localized: boolean;
  /** Times of the rows that no answer, filter, sort or served index has. Absent = none. */
  readonly privateTimes?: readonly SystemTime[];
  /** Own attributes, in the order of the schema file. system-attributes.ts has those of every row. */
  readonly attributes: ReadonlyMap<string, Attribute>;
  /** True for types that Varve itself defines (users, files), not a file. */
  readonly builtIn: boolean;
  /** `pluginOptions.varve` of the type, as in the file. */
  readonly varve?: unknown;
  /** Synonyms that the installation adds to those of `varve`, by locale. */
  readonly synonyms?: SynonymGroups;
  /** Rules for searches with certain words that were set while servers run. Absent = none. */
  readonly rules?: readonly SearchRule[];
};

/** Groups of words that count as equal, by locale; `*` is every locale. */
export type SynonymGroups = { readonly [locale: string]: readonly SynonymGroup[] };

/** Words or phrases that count as equal, or phrases whose searches also find others, but not the reverse. */
export type SynonymGroup =
  | readonly string[]
  | { readonly from: readonly string[]; readonly to: readonly string[] };

export type Component = {
  readonly uid: Uid;
  readonly displayName: string;
  readonly attributes: ReadonlyMap<string, Attribute>;
};

/** Model of the rows in a row set: a content type or a component. */
export type Model = ContentType | Component;
