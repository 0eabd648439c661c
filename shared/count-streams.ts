import { valueAt } from './map-values.ts';

/** Maximum numbers of open streams: of all callers together, and of one caller. */
export type StreamMaximums = { readonly total: number; readonly perCaller: number };

/** A limit that refuses a stream: the number of open streams, and the option that sets the limit. */
export type ReachedLimit = { readonly found: number; readonly option: string };

/** Counts of open streams, as one process uses them. */
export type StreamCounts = {
  /** Counts a new stream of a caller, or resolves with the limit that refuses it. */
  add(caller: string, maximums: StreamMaximums): Promise<ReachedLimit | undefined>;
  /** A counted stream of a caller has ended. */
  remove(caller: string): void;
  /** Forgets all streams of this process. It adds none after that. */
  clear(): void;
};

/** Creates counts of the open streams of several processes. Remembers no process and no caller without an open stream. */
export function createStreamCounts<Process>() {
  const processes = new Map<Process, Map<string, number>>();
  let total = 0;

  function ownOf(caller: string): number {
    let own = 0;
    for (const callers of processes.values()) own += callers.get(caller) ?? 0;
    return own;
  }

  return {
    /** Counts a new stream of a caller in a process, or returns the limit that refuses it. */
    add(process: Process, caller: string, maximums: StreamMaximums): ReachedLimit | undefined {
      if (total >= maximums.total) return { found: total, option: '--streams' };
      const own = ownOf(caller);
      if (own >= maximums.perCaller) return { found: own, option: '--streams-per-caller' };
      const callers = valueAt(processes, process, () => new Map<string, number>());
      callers.set(caller, (callers.get(caller) ?? 0) + 1);
      total++;
      return undefined;
    },
    /** A stream of a caller in a process has ended. Does nothing if it is not counted, as after `clear`. */
    remove(process: Process, caller: string): void {
      const callers = processes.get(process);
      const own = callers?.get(caller);
      if (callers === undefined || own === undefined) return;
      total--;
      if (own > 1) callers.set(caller, own - 1);
      else callers.delete(caller);
      if (callers.size === 0) processes.delete(process);
    },
    /** Forgets all streams of a process that has ended, or is about to end them. */
    clear(process: Process): void {
      for (const own of processes.get(process)?.values() ?? []) total -= own;
      processes.delete(process);
    },
  };
}

/** Creates counts for a process that answers alone. */
export function countOwnStreams(): StreamCounts {
  const counts = createStreamCounts<'own'>();
  return {
    add: async (caller, maximums) => counts.add('own', caller, maximums),
    remove: (caller) => counts.remove('own', caller),
    clear: () => counts.clear('own'),
  };
}
