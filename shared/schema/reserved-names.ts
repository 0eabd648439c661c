/** Names that attributes and types cannot have. */

/** Times of each row of a content type. A type may make them private. */
export const SYSTEM_TIMES = ['createdAt', 'updatedAt', 'publishedAt'] as const;

export type SystemTime = (typeof SYSTEM_TIMES)[number];

/** System attributes that every answer of a content type shows. */
export const SHOWN_SYSTEM_ATTRIBUTES = ['id', 'documentId', 'locale', 'localizations'];

/**
 * Names of attributes that Strapi 5 itself adds to every content type, compared without case and underscores. Its content-type builder
 * refuses more names, such as `status`, but Strapi serves them if a file contains them.
 */
const RESERVED_IN_CONTENT_TYPES = [...SHOWN_SYSTEM_ATTRIBUTES, ...SYSTEM_TIMES, 'createdBy', 'updatedBy'];

const RESERVED_IN_COMPONENTS = ['id', 'documentId'];

/** Member with the kind of a component, in answers and bodies of a dynamic zone. */
const KIND_MEMBER = '__component';

/**
 * Matches letters of any script, digits, `_` and `-`, which Strapi's files have. A name of digits only is an index of a list in a query
 * string. `.`, `:`, `,`, `$`, brackets and blanks have a meaning there or in Elasticsearch.
 */
const NAME = /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_-]*$/u;

/** Paths below `/api` that Varve serves itself. */
const RESERVED_ROUTES = ['upload', 'auth', '_changes'];

/** Returns why an attribute cannot be called `name`; undefined if it can. */
export function attributeNameProblem(name: string, owner: 'content type' | 'component'): string | undefined {
  if (!NAME.test(name) || /^\d+$/.test(name))
    return 'expected a name of letters, digits, _ and - that does not begin with - and is not a number';
  if (name === KIND_MEMBER) return 'the name is reserved';
  const reserved = owner === 'component' ? RESERVED_IN_COMPONENTS : RESERVED_IN_CONTENT_TYPES;
  const taken = reserved.find((other) => comparable(other) === comparable(name));
  if (taken !== undefined) return `the name is reserved${taken === name ? '' : `, as ${taken} is`}`;
  return name in Object.prototype ? 'the name is reserved' : undefined;
}

/** Returns why a type cannot be served under `/api/<name>`; undefined if it can. */
export function routeNameProblem(name: string): string | undefined {
  return RESERVED_ROUTES.includes(name.toLowerCase()) ? `the name ${name} is reserved` : undefined;
}

function comparable(name: string): string {
  return name.replaceAll('_', '').toLowerCase();
}
