import type { RowSetIndex } from '../rows/row-set.ts';

/**
 * Bytes of row sources, packed into large buffers, because a separate buffer for each source costs more than most sources. A block that is
 * half garbage is emptied, so memory is at most twice the size of the sources. Bytes are written once.
 */
export type SourceBlocks = {
  readonly byBuffer: Map<ArrayBufferLike, Block>;
  /** The block being filled. */
  current: Block | undefined;
};

type Block = {
  readonly bytes: Uint8Array;
  used: number;
  /** Bytes that are still sources of rows. */
  needed: number;
  /** Row sets whose sources were stored here. Many of the sources may have been removed since. */
  readonly rowSets: RowSetIndex[];
  readonly rows: number[];
};

const BLOCK_BYTES = 256 * 1024;
/** Maximum bytes of a packed source. A larger one would waste the rest of a block. */
const LARGEST_PACKED = BLOCK_BYTES / 8;

/** Creates storage without blocks. */
export function createSourceBlocks(): SourceBlocks {
  return { byBuffer: new Map(), current: undefined };
}

/** Gives the row a copy of `source`. Its previous source must already be released. */
export function storeSource(
  blocks: SourceBlocks,
  rowSet: RowSetIndex,
  row: number,
  source: Uint8Array,
): void {
  const { byteLength } = source;
  if (byteLength > LARGEST_PACKED) {
    rowSet.sources[row] = new Uint8Array(source);
    return;
  }
  const block = blockWithRoom(blocks, byteLength);
  block.bytes.set(source, block.used);
  rowSet.sources[row] = block.bytes.subarray(block.used, block.used + byteLength);
  block.used += byteLength;
  block.needed += byteLength;
  block.rowSets.push(rowSet);
  block.rows.push(row);
}

/** Releases bytes that a row no longer needs. Answers that still have them are not affected. */
export function releaseSource(blocks: SourceBlocks, source: Uint8Array): void {
  const block = blocks.byBuffer.get(source.buffer);
  if (block === undefined) return;
  block.needed -= source.byteLength;
  if (block !== blocks.current && block.needed * 2 < block.bytes.byteLength) empty(blocks, block);
}

function blockWithRoom(blocks: SourceBlocks, bytes: number): Block {
  const { current } = blocks;
  if (current !== undefined && current.bytes.byteLength - current.used >= bytes) return current;
  const created = { bytes: new Uint8Array(BLOCK_BYTES), used: 0, needed: 0, rowSets: [], rows: [] };
  blocks.byBuffer.set(created.bytes.buffer, created);
  blocks.current = created;
  // The block may have lost half of its sources while it was being filled.
  if (current !== undefined && current.needed * 2 < current.bytes.byteLength) empty(blocks, current);
  return blockWithRoom(blocks, bytes);
}

/** Moves the used sources elsewhere and releases the block. */
function empty(blocks: SourceBlocks, block: Block): void {
  blocks.byBuffer.delete(block.bytes.buffer);
  for (let i = 0; i < block.rows.length; i++) {
    const rowSet = block.rowSets[i] as RowSetIndex;
    const row = block.rows[i] as number;
    const source = rowSet.sources[row];
    // A row that was written several times occurs several times here, but it is moved only once.
    if (source?.buffer === block.bytes.buffer) storeSource(blocks, rowSet, row, source);
  }
}
