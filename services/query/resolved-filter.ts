import type { Uid } from '../../shared/schema/content-type.ts';
import type { GeoColumns } from '../../shared/schema/search-geo.ts';
import type { GeoArea } from './geo-operators.ts';
import type { Operands, OperatorName } from './operators.ts';
import type { QueryScalar } from './query-model.ts';

/**
 * A filter that fits its content type, with operands cast to the attributes' types. It still has SQL's three-valued logic. Each `some` is
 * one mention of a relation or component. It is an existential variable in front of the whole formula (SEMANTICS section 1).
 */
export type ResolvedFilter =
  | { readonly kind: 'and' | 'or'; readonly members: readonly ResolvedFilter[] }
  | { readonly kind: 'not'; readonly member: ResolvedFilter }
  | {
      readonly kind: 'some';
      readonly attribute: string;
      /** Kind of the components, in a dynamic zone. */
      readonly zoneComponent?: Uid;
      readonly body: ResolvedFilter;
    }
  | {
      readonly kind: 'comparison';
      readonly field: QueryScalar;
      readonly operator: OperatorName;
      readonly operands: Operands;
    }
  /** The point in the columns is in the area. It is NULL for a row without a point. */
  | { readonly kind: 'geo'; readonly columns: GeoColumns; readonly area: GeoArea };
