import type { ContentType } from '../../shared/schema/content-type.ts';
import type { NameContext } from './named-attributes.ts';

/** Content type and names that a query can use, with its problems so far. */
export type InstantContext = NameContext & { readonly type: ContentType };
