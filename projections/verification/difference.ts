import type { World } from '../../shared/read-index/read-index.ts';
import type { Uid } from '../../shared/schema/content-type.ts';

/** A row that an index does not have as the graph has it, and what is wrong with it, by name. */
export type IndexDifference = {
  readonly type: Uid;
  readonly world: World;
  readonly key: number;
  readonly documentId: string;
  readonly locale: string | null;
  readonly differing: readonly string[];
  /** It is made anew. */
  readonly repaired: boolean;
};

/** What a verification says while it goes on. */
export type VerificationLine =
  | ({ readonly kind: 'difference' } & IndexDifference)
  | { readonly kind: 'progress'; readonly checked: number; readonly rows: number }
  /** Documents that could not be judged: they are being written, or the engine takes none. */
  | { readonly kind: 'waiting'; readonly documents: number };

/** Of a row that no event ever spoke of. */
export const UNKNOWN_DOCUMENT = { documentId: '(unknown)', locale: null } as const;
