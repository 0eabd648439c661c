import type { GeoColumns } from '../schema/search-geo.ts';
import type { GeoCircle } from './geo-area.ts';

/**
 * The query that both engines run. It is a plain frozen value, never a string. It has two truth values. The translator decides everything
 * that SQL's NULL logic would; the engine only evaluates sets of rows.
 */

/** Value of a column. 64-bit integers are bigint. Dates, times and datetimes are compared as numbers of milliseconds (see `FieldType`). */
export type Scalar = string | number | bigint | boolean;

/**
 * Storage and comparison of a field, by attribute type:
 * - `keyword`: string text richtext email uid enumeration, documentId, locale; codepoint order
 * - `number`: integer, decimal, float, id — doubles
 * - `long`: biginteger — exact 64-bit
 * - `boolean`
 * - `time-of-day`: time as milliseconds since midnight
 * - `instant`: date (midnight UTC) and datetime as epoch milliseconds
 * - `json`: json and blocks; equality by canonical jsonb text (see `jsonText`)
 */
export type FieldType = 'keyword' | 'number' | 'long' | 'boolean' | 'time-of-day' | 'instant' | 'json';

/** Fields of every row of a content type in addition to its attributes. A request cannot name them, because `$` starts operators. */
export const PUBLICATION_STATE_FIELD = '$publication';
export const DOCUMENT_PUBLISHED_FIELD = '$documentPublished';

/** Publication state of a document in a locale. `sort=status` sorts the states in this order. */
export const PUBLICATION_STATES = ['never-published', 'modified', 'published'] as const;
export type PublicationState = (typeof PUBLICATION_STATES)[number];

export type BoolQuery =
  | { readonly kind: 'match_all' }
  | { readonly kind: 'match_none' }
  /** The field has a value and it equals `value`. */
  | { readonly kind: 'term'; readonly field: string; readonly value: Scalar }
  | { readonly kind: 'terms'; readonly field: string; readonly values: readonly Scalar[] }
  /** The field has a value within the bounds. */
  | {
      readonly kind: 'range';
      readonly field: string;
      readonly gt?: Scalar;
      readonly gte?: Scalar;
      readonly lt?: Scalar;
      readonly lte?: Scalar;
    }
  /** The field has a value (is not NULL). */
  | { readonly kind: 'exists'; readonly field: string }
  /**
   * The field's text form (`textForm`) compared with `value`. `fold: true` compares `foldText(textForm)`, and `value` is already folded. An
   * empty `value` matches every row that has the field.
   */
  | {
      readonly kind: 'text';
      readonly match: 'equals' | 'contains' | 'prefix' | 'suffix';
      readonly field: string;
      readonly value: string;
      readonly fold: boolean;
    }
  /** The point in two columns of a content type is in a circle. False for other numbers than a latitude and a longitude. */
  | { readonly kind: 'area'; readonly columns: GeoColumns; readonly circle: GeoCircle }
  /**
   * True if at least one row linked by the relation (or component, or media attribute, or `localizations`) `attribute` satisfies `query`.
   */
  | { readonly kind: 'some'; readonly attribute: string; readonly query: BoolQuery }
  /** True if at least one component of the kind `component` in the dynamic zone `attribute` satisfies `query`. */
  | {
      readonly kind: 'some_in_zone';
      readonly attribute: string;
      readonly component: string;
      readonly query: BoolQuery;
    }
  /** Matches all of `filter`, none of `must_not`, and at least one of `should` if it is given (an empty `should` matches nothing). */
  | {
      readonly kind: 'bool';
      readonly filter?: readonly BoolQuery[];
      readonly should?: readonly BoolQuery[];
      readonly must_not?: readonly BoolQuery[];
    };

export const MATCH_ALL: BoolQuery = Object.freeze({ kind: 'match_all' });
export const MATCH_NONE: BoolQuery = Object.freeze({ kind: 'match_none' });
