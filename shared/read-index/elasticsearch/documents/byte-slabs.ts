/** Reusable memory: allocating and freeing megabytes makes V8 search its whole heap for more garbage. */
export type ByteSlabs = {
  /** Returns at least this many bytes, with arbitrary content. */
  take(size: number): Buffer;
  /** Returns a slab that is no longer read. Slabs that are never returned are ordinary garbage. */
  giveBack(slab: Buffer): void;
};

/** Slabs are of whole ones of these, so that one fits where another did. */
const UNIT_BYTES = 2 ** 20;
/** Somewhat more than the requests in flight and in the making use. */
const MOST_KEPT_BYTES = 24 * UNIT_BYTES;

/** Creates an empty store of slabs. It keeps 24 MiB at most; what is returned beyond that is garbage. */
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
