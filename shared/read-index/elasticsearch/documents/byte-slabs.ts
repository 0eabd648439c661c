/** Reusable memory: allocating and freeing megabytes makes V8 search its whole heap for more garbage. */
export type ByteSlabs = {
  /** Returns at least this many bytes, with arbitrary content. */
  take(size: number): Buffer;
  /** Takes back a slab that is no longer read. A slab that is never given back is ordinary garbage. */
  giveBack(slab: Buffer): void;
};

/** Size of a slab is a multiple of this, so that a returned slab fits again. */
const UNIT_BYTES = 2 ** 20;
/** Slightly more than the documents in flight and being made use. */
const MOST_KEPT_BYTES = 24 * UNIT_BYTES;

/** Creates an empty store of slabs. It keeps at most 24 MiB; further slabs become garbage. */
export function createByteSlabs(): ByteSlabs {
  const free: Buffer[] = [];
  let kept = 0;
  return {
    take(size) {
      const at = free.findIndex((slab) => slab.length >= size);
      const [found] = at === -1 ? [] : free.splice(at, 1);
      if (found === undefined) return Buffer.allocUnsafeSlow(Math.ceil(size / UNIT_BYTES) * UNIT_BYTES);
      kept -= found.length;
      return found;
    },
    giveBack(slab) {
      if (kept + slab.length > MOST_KEPT_BYTES) return;
      free.push(slab);
      kept += slab.length;
    },
  };
}
