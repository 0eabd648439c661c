/** Records of a log, in order. Long runs of other applications' records are not stored, but created when they are read. */
export type RecordList<R> = Iterable<R> & {
  readonly length: number;
  at(index: number): R | undefined;
  push(record: R): void;
  /** Adds `count` records of one kind: a filter by stream or type matches all of them or none. */
  pushAlike(count: number, make: (n: number) => R): void;
  /** Returns the number of successive records of the same kind from an index on, at least 1. */
  alike(index: number): number;
  /** Copies the list as it is now. The function that is returned puts this state back. */
  keep(): () => void;
};

type Stretch<R> = { readonly start: number; readonly count: number; readonly make: (n: number) => R };

export const createRecordList = <R>(): RecordList<R> => {
  const single: (R | Stretch<R>)[] = [];
  const starts: number[] = [];
  let length = 0;

  const indexOf = (index: number): number => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((starts[middle] as number) <= index) low = middle;
      else high = middle - 1;
    }
    return low;
  };
  const add = (entry: R | Stretch<R>, count: number) => {
    single.push(entry);
    starts.push(length);
    length += count;
  };
  const isStretch = (entry: R | Stretch<R>): entry is Stretch<R> =>
    typeof entry === 'object' && entry !== null && 'make' in entry;
  const at = (index: number): R | undefined => {
    if (index < 0 || index >= length) return undefined;
    const entry = single[indexOf(index)] as R | Stretch<R>;
    return isStretch(entry) ? entry.make(index - entry.start) : entry;
  };
  return {
    get length() {
      return length;
    },
    at: (index) => at(index < 0 ? length + index : index),
    push: (record) => add(record, 1),
    pushAlike: (count, make) => add({ start: length, count, make }, count),
    alike(index) {
      const entry = single[indexOf(index)] as R | Stretch<R>;
      return isStretch(entry) ? entry.start + entry.count - index : 1;
    },
    keep() {
      const kept = { single: [...single], starts: [...starts], length };
      return () => {
        single.splice(0, single.length, ...kept.single);
        starts.splice(0, starts.length, ...kept.starts);
        length = kept.length;
      };
    },
    *[Symbol.iterator]() {
      for (let n = 0; n < length; n += 1) yield at(n) as R;
    },
  };
};
