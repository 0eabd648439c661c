/** Names that attributes and types cannot have. */

/** System attributes that every answer of a content type shows. */
export const SHOWN_SYSTEM_ATTRIBUTES = [
  'id',
  'documentId',
  'createdAt',
  'updatedAt',
  'publishedAt',
  'locale',
  'localizations',
];

/** Strapi 5's reserved attribute names (its content-type builder), compared without case and underscores. */
const RESERVED_IN_CONTENT_TYPES = [
  ...SHOWN_SYSTEM_ATTRIBUTES,
  'createdBy',
  'updatedBy',
  'createdById',
  'updatedById',
  'entryId',
  'status',
  'meta',
  'strapi',
  'strapiStage',
  'strapiAssignee',
];

const RESERVED_IN_COMPONENTS = ['id', 'documentId'];

/** Strapi 5's reserved type names, and what Varve serves under `/api` itself. */
const RESERVED_TYPE_NAMES = ['boolean', 'date', 'date-time', 'time', 'upload', 'then', 'document', 'auth'];

/** Why an attribute cannot be called `name`. */
export function attributeNameProblem(name: string, owner: 'content type' | 'component'): string | undefined {
  if (!/^[A-Za-z]\w*$/.test(name))
    return 'expected a name of letters, digits and _ that begins with a letter';
  const reserved = owner === 'component' ? RESERVED_IN_COMPONENTS : RESERVED_IN_CONTENT_TYPES;
  const taken = reserved.find((other) => comparable(other) === comparable(name));
  if (taken !== undefined) return `the name is reserved${taken === name ? '' : `, as ${taken} is`}`;
  return name in Object.prototype ? 'the name is reserved' : undefined;
}

/** Why a type's singular or plural name cannot be `name`. */
export function typeNameProblem(name: string): string | undefined {
  return RESERVED_TYPE_NAMES.includes(name) ? `the name ${name} is reserved` : undefined;
}

function comparable(name: string): string {
  return name.replaceAll('_', '').toLowerCase();
}
