import {
  type BoolQuery,
  DOCUMENT_PUBLISHED_FIELD,
  MATCH_NONE,
  PUBLICATION_STATE_FIELD,
  type PublicationState,
} from '../../shared/read-index/bool-query.ts';
import type { World } from '../../shared/read-index/read-index.ts';
import { invalidKey, type Problems } from './problems.ts';
import type { QueryObject } from './query-string.ts';

const PUBLISHED = states('modified', 'published');
const NEVER_PUBLISHED_DOCUMENT = documentPublished(false);
const PUBLISHED_DOCUMENT = documentPublished(true);

/**
 * The values in the order of Strapi's message. In Varve a published row always has a draft, so no row is
 * `published-without-draft`.
 */
export const PUBLICATION_FILTERS = new Map<string, BoolQuery>([
  ['never-published', states('never-published')],
  ['has-published-version', PUBLISHED],
  ['modified', states('modified')],
  ['unmodified', states('published')],
  ['never-published-document', NEVER_PUBLISHED_DOCUMENT],
  ['has-published-version-document', PUBLISHED_DOCUMENT],
  ['published-without-draft', MATCH_NONE],
  ['published-with-draft', PUBLISHED],
]);

/**
 * Resolves `publicationFilter`, or else the deprecated `hasPublishedVersion`, to a condition on rows. It applies at the root and in
 * `populate`, for types with draft & publish. Returns null if the request has neither (SEMANTICS section 4).
 */
export function resolvePublicationFilter(
  query: QueryObject,
  problems: Problems,
  { world, mayReadDrafts }: { readonly world: World; readonly mayReadDrafts: boolean },
): BoolQuery | null {
  const { publicationFilter, hasPublishedVersion } = query;
  if (!mayReadDrafts) {
    for (const name of ['publicationFilter', 'hasPublishedVersion'])
      if (query[name] !== undefined) problems.push(invalidKey(name, null, name, []));
    return null;
  }
  const deprecated = resolveHasPublishedVersion(hasPublishedVersion, problems);
  if (publicationFilter === undefined || publicationFilter === null) return deprecated;
  // The filter selects published rows, so no draft matches, whatever rows its document has.
  if (publicationFilter === 'published-with-draft' && world === 'draft') return MATCH_NONE;
  return knownCondition(publicationFilter, problems);
}

/**
 * Refuses an unknown `publicationFilter` for users and files, which cannot be published. A known value has no effect there, and
 * `hasPublishedVersion` is ignored.
 */
export function refusePublicationFilter({ publicationFilter }: QueryObject, problems: Problems): null {
  if (publicationFilter !== undefined && publicationFilter !== null)
    knownCondition(publicationFilter, problems);
  return null;
}

function knownCondition(publicationFilter: QueryObject[string], problems: Problems): BoolQuery | null {
  const condition =
    typeof publicationFilter === 'string' ? PUBLICATION_FILTERS.get(publicationFilter) : undefined;
  if (condition !== undefined) return condition;
  const accepted = [...PUBLICATION_FILTERS.keys()];
  problems.push({
    phase: 'publication',
    message: `Invalid value for 'publicationFilter'. Expected one of: ${accepted.join(', ')}.`,
    param: 'publicationFilter',
    found: publicationFilter,
    accepted,
  });
  return null;
}

function resolveHasPublishedVersion(value: QueryObject[string], problems: Problems): BoolQuery | null {
  if (value === undefined || value === null) return null;
  if (value === 'true') return PUBLISHED_DOCUMENT;
  if (value === 'false') return NEVER_PUBLISHED_DOCUMENT;
  problems.push({
    phase: 'form',
    message: "Invalid value for 'hasPublishedVersion'. Expected boolean or 'true'/'false' string.",
    param: 'hasPublishedVersion',
    found: value,
    accepted: ['true', 'false'],
  });
  return null;
}

function states(...values: readonly PublicationState[]): BoolQuery {
  const [value, ...more] = values;
  return more.length === 0 && value !== undefined
    ? { kind: 'term', field: PUBLICATION_STATE_FIELD, value }
    : { kind: 'terms', field: PUBLICATION_STATE_FIELD, values };
}

function documentPublished(value: boolean): BoolQuery {
  return { kind: 'term', field: DOCUMENT_PUBLISHED_FIELD, value };
}
