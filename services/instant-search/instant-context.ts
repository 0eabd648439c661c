import type { ContentType } from '../../shared/schema/content-type.ts';
import type { NameContext } from './named-attributes.ts';

/** Where the names of a query are looked up, and its problems so far. */
export type InstantContext = NameContext & { readonly type: ContentType };
