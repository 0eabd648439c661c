import type { Uid } from '../schema/content-type.ts';

/**
 * Ways in which an index outside the process differs from the one that Varve has written. Varve makes the index again after the first
 * five. The last three end without Varve: an operator opens the index or lifts the block, or its nodes come back.
 */
export const FAULT_KINDS = [
  'missing',
  'restored',
  'replaced',
  'mapping',
  'foreign',
  'closed',
  'blocked',
  'unassigned',
] as const;

export type FaultKind = (typeof FAULT_KINDS)[number];

/** A content type whose index cannot be trusted, or cannot be written. */
export type IndexFault = {
  readonly type: Uid;
  readonly kind: FaultKind;
  /** A sentence for people, without a full stop. */
  readonly reason: string;
  /** Time of its discovery, in ISO 8601. */
  readonly since: string;
  /** False while the index shows everything that was written, so that reads are still right. */
  readonly refusesReads: boolean;
};

/** Faults of a namespace's indices, for the processes that answer reads. The leader publishes them. */
export type FaultStore = {
  /** Returns the published faults. Rejects if they cannot be read now. */
  read(): Promise<readonly IndexFault[]>;
  /** Replaces the published faults. Rejects if they cannot be written now. */
  write(faults: readonly IndexFault[]): Promise<void>;
};

const LOST: readonly FaultKind[] = ['missing', 'restored', 'replaced', 'mapping', 'foreign'];

/** Returns whether Varve has to make the index of a type again, because nobody else can repair its content. */
export function isLost({ kind }: Pick<IndexFault, 'kind'>): boolean {
  return LOST.includes(kind);
}
