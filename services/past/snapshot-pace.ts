/** Compressed copy of a graph. A past after its position begins with it instead of the first event of the log. */
export type GraphSnapshot = { readonly file: string; readonly position: bigint; readonly bytes: number };

/** Snapshots take at most this part of the log's size. */
const PART_OF_LOG = 1 / 4;

/** Size of a snapshot that is not made yet, as a part of the graph's file. Measured: 0.19. */
const COMPRESSED = 1 / 5;

/** Bytes of the log between two snapshots at least: a replay of so much takes a second. */
export const LEAST_APART = 16 * 2 ** 20;

export type SnapshotPlace = {
  /** Position of the graph. */
  readonly position: bigint;
  /** End of the log, and the size of the log up to there in bytes. */
  readonly end: bigint;
  readonly logBytes: number;
  /** Snapshots that exist, the latest first. */
  readonly snapshots: readonly GraphSnapshot[];
  /** Returns the size of the graph's file in bytes. */
  readonly graphBytes: () => number;
  /** Bytes of the log between two snapshots at least. */
  readonly leastApart: number;
};

/**
 * Returns whether a snapshot should be made at a position. The log between two snapshots is so large that they take at most a quarter of the
 * log's size. The bytes of events are taken as equal.
 */
export function isSnapshotDue(place: SnapshotPlace): boolean {
  const { position, end, logBytes, snapshots, leastApart } = place;
  const bytesBetween = (from: bigint, to: bigint) => (Number(to - from) / Number(end)) * logBytes;
  const below = snapshots.find((each) => each.position <= position);
  const above = snapshots.findLast((each) => each.position > position);
  const isApart = (bytes: number) =>
    bytesBetween(below?.position ?? 0n, position) >= bytes &&
    (above === undefined || bytesBetween(position, above.position) >= bytes);
  // The size of the graph takes time to find.
  if (end === 0n || !isApart(leastApart)) return false;
  const bytes = Math.max(below?.bytes ?? 0, place.graphBytes() * COMPRESSED);
  return isApart(bytes / PART_OF_LOG) && fitsPart([...snapshots, { bytes }], logBytes);
}

/** Returns whether snapshots are not larger than their part of the log. */
export function fitsPart(snapshots: readonly Pick<GraphSnapshot, 'bytes'>[], logBytes: number): boolean {
  return snapshots.reduce((sum, { bytes }) => sum + bytes, 0) <= logBytes * PART_OF_LOG;
}
