/** Memory that is used again: what comes and goes by megabytes makes V8 search its whole heap for more of it to give back. */
export type ByteSlabs = {
  /** At least so long. What stands in it is anybody's. */
  take(size: number): Buffer;
  /** Nobody reads it any more. What is never given back is garbage like any other. */
  giveBack(slab: Buffer): void;
};

/** Slabs are of whole ones of these, so that one fits where another did. */
const UNIT_BYTES = 2 ** 20;
/** Some more than the requests that are under way and in the making hold. */
const MOST_KEPT_BYTES = 24 * UNIT_BYTES;

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
