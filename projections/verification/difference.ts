import type { World } from '../../shared/read-index/read-index.ts';
import type { Uid } from '../../shared/schema/content-type.ts';

/** A row that differs between an index and the graph, with the names of the differences. */
export type IndexDifference = {
  readonly type: Uid;
  readonly world: World;
  readonly key: number;
  readonly documentId: string;
  readonly locale: string | null;
  readonly differing: readonly string[];
  /** True if the row was written again, and is right now. */
  readonly repaired: boolean;
};

/** Progress report of a verification. */
export type VerificationLine =
  | ({ readonly kind: 'difference' } & IndexDifference)
  /** A content type whose index was not compared, because somebody else has changed it. */
  | { readonly kind: 'fault'; readonly type: Uid; readonly reason: string }
  | { readonly kind: 'progress'; readonly checked: number; readonly rows: number }
  /** Documents that could not be compared, because they are being written or the engine accepts none. */
  | { readonly kind: 'waiting'; readonly documents: number };

/** Name for a row that no event has mentioned. */
export const UNKNOWN_DOCUMENT = { documentId: '(unknown)', locale: null } as const;
