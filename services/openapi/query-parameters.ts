import type { ContentType } from '../../shared/schema/content-type.ts';
import { PUBLICATION_FILTERS } from '../query/publication-filter.ts';
import { type QueryModel, queryModelOf } from '../query/query-model.ts';
import {
  anyOfSchemas,
  closedSchema,
  listSchema,
  modelRef,
  queryParameter,
  TEXT_SCHEMA,
} from './document-parts.ts';
import type { Example, OpenApiScope, Parameter } from './openapi-types.ts';
import { namesOf } from './selection-schemas.ts';
import { wordParameters } from './word-parameters.ts';

/** `drafts`: the caller may ask for unpublished entries. */
type ParameterScope = OpenApiScope & { readonly drafts: boolean };

/** Parameters of a list: everything. */
export function listParameters(scope: ParameterScope, type: ContentType): readonly Parameter[] {
  return [
    filtersParameter(scope, type),
    sortParameter(scope, type),
    PAGINATION,
    ...selectionParameters(scope, type),
    SEARCH,
    ...wordParameters(queryModelOf(scope.registry, type.uid)),
    ...versionParameters(scope, type),
  ];
}

/** Parameters of the files: all of them are answered if no page is requested. */
export function filesListParameters(scope: OpenApiScope, type: ContentType): readonly Parameter[] {
  return listParameters({ ...scope, drafts: false }, type).map((parameter) =>
    parameter === PAGINATION ? PAGES : parameter,
  );
}

/** Parameters of one entry. */
export function entryParameters(scope: ParameterScope, type: ContentType): readonly Parameter[] {
  return [
    ...selectionParameters(scope, type),
    filtersParameter(scope, type),
    ...versionParameters(scope, type),
  ];
}

/** Parameters of a write: its version and locale, and the parts of the entry to answer. */
export function writeParameters(scope: ParameterScope, type: ContentType): readonly Parameter[] {
  const status = scope.drafts && type.draftAndPublish ? [WRITE_STATUS] : [];
  return [...status, ...localeParameters(type, WRITE_LOCALE), ...selectionParameters(scope, type)];
}

/** Parameters of an action, which determines the version itself. */
export function actionParameters(scope: OpenApiScope, type: ContentType): readonly Parameter[] {
  return [...localeParameters(type, WRITE_LOCALE), ...selectionParameters(scope, type)];
}

/** Parameters of a removal. */
export function removeParameters(scope: OpenApiScope, type: ContentType): readonly Parameter[] {
  return [...localeParameters(type, REMOVE_LOCALE), filtersParameter(scope, type)];
}

/** Parameters of Strapi's users dialect, which has no pages and ignores unknown ones (SEMANTICS section 11). */
export function usersListParameters(scope: OpenApiScope, type: ContentType): readonly Parameter[] {
  return [
    filtersParameter(scope, type),
    sortParameter(scope, type),
    ...selectionParameters(scope, type),
    queryParameter('start', 'Users to skip.', count(0)),
    queryParameter('limit', 'Maximum number of users; all of them without it.', count(1)),
  ];
}

function filtersParameter(scope: OpenApiScope, type: ContentType): Parameter {
  return queryParameter(
    'filters',
    'Conditions on attributes, relations and components at any depth: `filters[attribute][operator]=operand`. All conditions next to each other must be true.',
    modelRef(scope, type.uid, 'Filters'),
    { style: 'deepObject', examples: filterExamples(scope, queryModelOf(scope.registry, type.uid)) },
  );
}

/** Examples of filters that are valid for the type with any content. A form begins with the first. */
function filterExamples(scope: OpenApiScope, model: QueryModel): Readonly<Record<string, Example>> {
  const examples: Record<string, Example> = { none: { summary: 'No filter', value: {} } };
  const text = textAttribute(model);
  if (text !== undefined) {
    examples['text'] = { summary: `${text} contains "a"`, value: { [text]: { $containsi: 'a' } } };
  }
  for (const attribute of model.attributes.values()) {
    if (attribute.kind !== 'relation' || attribute.name === 'localizations') continue;
    const inner = textAttribute(queryModelOf(scope.registry, attribute.target));
    if (inner === undefined) continue;
    examples['relation'] = {
      summary: `Some ${attribute.name} has a ${inner}`,
      value: { [attribute.name]: { [inner]: { $notNull: true } } },
    };
    break;
  }
  return examples;
}

function textAttribute(model: QueryModel): string | undefined {
  const texts = [...model.attributes.values()].filter(
    (attribute) => attribute.kind === 'scalar' && attribute.type === 'string',
  );
  return texts.find(({ name }) => !SYSTEM_TEXTS.includes(name))?.name;
}

const SYSTEM_TEXTS = ['documentId', 'locale'];

function sortParameter(scope: OpenApiScope, type: ContentType): Parameter {
  const model = queryModelOf(scope.registry, type.uid);
  const [first = 'id'] = namesOf(model, 'scalar').filter((name) => name !== 'id');
  const examples = {
    none: { summary: 'By id', value: [] },
    one: { summary: `By ${first}, backwards`, value: [`${first}:desc`] },
  };
  const byDistance = [...model.geo.keys()].map(
    (name) => ` \`sort[${name}]=lat,lng\` sorts by the distance from a point, with the nearest first.`,
  );
  return queryParameter(
    'sort',
    `Attributes to sort by, each with \`:asc\` or \`:desc\` behind it, also through relations and components with dots. Without it, and where all are equal, by \`id\`.${byDistance.join('')}`,
    listSchema(TEXT_SCHEMA),
    { style: 'form', examples },
  );
}

function selectionParameters(scope: OpenApiScope, type: ContentType): readonly Parameter[] {
  const model = queryModelOf(scope.registry, type.uid);
  const links = namesOf(model, 'relation', 'component', 'zone');
  const fields = queryParameter(
    'fields',
    'Attributes of the answer; all of them without it. It always has `id` and `documentId`.',
    listSchema({ type: 'string', enum: ['*', ...namesOf(model, 'scalar')] }),
    { style: 'form' },
  );
  const [first] = links;
  if (first === undefined) return [fields];
  const examples = {
    none: { summary: 'Nothing', value: {} },
    one: { summary: `With ${first}`, value: { [first]: true } },
  };
  const populate = queryParameter(
    'populate',
    `Relations, components, media and dynamic zones to answer with the entry: ${links.join(', ')}. Other forms are \`populate=*\` (all, one level), \`populate=${first}\` and dotted names.`,
    modelRef(scope, type.uid, 'Populate'),
    { style: 'deepObject', examples },
  );
  return [fields, populate];
}

function versionParameters({ drafts }: ParameterScope, type: ContentType): readonly Parameter[] {
  return [
    // Types without versions have it too: it selects the version of related entries.
    ...(drafts ? [STATUS] : []),
    ...(drafts && type.draftAndPublish ? [PUBLICATION_FILTER] : []),
    ...localeParameters(type, READ_LOCALE),
  ];
}

function localeParameters(type: ContentType, description: string): readonly Parameter[] {
  return type.localized ? [queryParameter('locale', description)] : [];
}

const READ_LOCALE =
  'The locale of the entries; the default locale without it, every locale with `*` (lists only).';
const WRITE_LOCALE = 'The locale to write; the default locale without it.';
const REMOVE_LOCALE = 'The locale to remove; the default locale without it, every locale with `*`.';

const VERSION = { type: 'string', enum: ['published', 'draft'] };

const STATUS = queryParameter(
  'status',
  'The world of the answer: published entries, or drafts. Filters, sorts and `populate` stay in it. Default: published.',
  VERSION,
);

const WRITE_STATUS = queryParameter(
  'status',
  '`draft` writes the draft only; otherwise the entry is published with the write.',
  VERSION,
);

const PUBLICATION_FILTER = queryParameter(
  'publicationFilter',
  'Entries in this state of publication, of this locale or of the whole document.',
  { type: 'string', enum: [...PUBLICATION_FILTERS.keys()] },
);

const SEARCH = queryParameter(
  '_q',
  'Entries with this text in one of their own text attributes, ignoring case.',
);

function count(minimum: number) {
  return { type: 'integer', minimum };
}

const withCount = { type: 'boolean' };
const pageForm = closedSchema({ page: count(1), pageSize: count(1), withCount });
const offsetForm = closedSchema({ start: count(0), limit: count(1), withCount });
const cursorForm = closedSchema({ cursor: TEXT_SCHEMA, pageSize: count(1), withCount }, ['cursor']);

/** Pages of a list. */
export const PAGES = queryParameter(
  'pagination',
  'Either `page` (from 1) and `pageSize`, or `start` (from 0) and `limit`. Without a size a page has 25 entries, and a larger one is cut to 100, unless the settings of the server differ. `withCount=false` omits the total.',
  anyOfSchemas(pageForm, offsetForm),
  {
    style: 'deepObject',
    examples: {
      page: { summary: 'The first 10', value: { page: 1, pageSize: 10 } },
      offset: { summary: 'The 11th to the 20th', value: { start: 10, limit: 10 } },
    },
  },
);

const PAGINATION: Parameter = {
  ...PAGES,
  description: `${PAGES.description} Read long lists with \`cursor\`: empty to begin, then \`meta.pagination.nextCursor\` of each answer until it is null. Entries that are added or removed meanwhile make no other one appear twice or be missing.`,
  schema: anyOfSchemas(pageForm, offsetForm, cursorForm),
  examples: {
    ...PAGES.examples,
    cursor: { summary: 'The first 10 of a walk through all', value: { cursor: '', pageSize: 10 } },
  },
};
