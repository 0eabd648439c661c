/** The content types of a Strapi project, in the form the rest of Varve works with. */

/** `api::restaurant.restaurant`, `plugin::users-permissions.user`, or for components `common.address`. */
export type Uid = string;

/** The built-in types, see built-in-types.ts. */
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
  /** Never in an answer, a filter, a sort or a served index. Passwords are private, whatever the schema says. */
  readonly private: boolean;
  readonly required: boolean;
  readonly configurable: boolean;
  /** True if each locale has its own value; false = shared by all locales. Always true on types without i18n. */
  readonly localized: boolean;
  /** A rule in JSON Logic (`conditions.visible`): while it does not hold, the attribute need not be complete. */
  readonly condition?: unknown;
  /** `pluginOptions.varve` of the attribute, as in the file. */
  readonly varve?: unknown;
};

export type ScalarAttribute = AttributeBase & {
  readonly kind: 'scalar';
  readonly type: ScalarType;
  readonly unique: boolean;
  /** Applied on create when the key is absent. */
  readonly default?: unknown;
  /** Numbers; for `biginteger` a decimal string. */
  readonly min?: number | string;
  readonly max?: number | string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly regex?: string;
  readonly enum?: readonly string[];
  /** `uid` only. */
  readonly targetField?: string;
  /** False excludes the attribute from `_q`. */
  readonly searchable: boolean;
};

export type RelationKind = 'oneToOne' | 'oneToMany' | 'manyToOne' | 'manyToMany';

/**
 * A relation, or a media attribute (a one-way relation to `plugin::upload.file`).
 * The side without `mappedBy` owns the relation; a link is named after the owner's attribute.
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
  /** `pluginOptions.i18n.localized` */
  readonly localized: boolean;
  /** In the order of the schema file. Own attributes only; system-attributes.ts has those of every row. */
  readonly attributes: ReadonlyMap<string, Attribute>;
  /** Built into Varve (users, files): not defined by a file. */
  readonly builtIn: boolean;
  /** `pluginOptions.varve` of the type, as in the file. */
  readonly varve?: unknown;
  /** Synonyms that the installation adds to those of `varve`, by locale. */
  readonly synonyms?: SynonymGroups;
};

/** Groups of words that count as each other, by locale; `*` is every locale. */
export type SynonymGroups = { readonly [locale: string]: readonly (readonly string[])[] };

export type Component = {
  readonly uid: Uid;
  readonly displayName: string;
  readonly attributes: ReadonlyMap<string, Attribute>;
};

/** Model of a row set: a content type or a component. */
export type Model = ContentType | Component;
