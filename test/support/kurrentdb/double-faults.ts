/** Calls into which tests can inject faults. `subscribe` is the `Read` call with subscription options. */
export type DoubleCall = 'append' | 'appendRecords' | 'batchAppend' | 'read' | 'subscribe' | 'features';

export type Fault =
  /** The call ends with this gRPC status, and this trailing metadata, before it does anything. */
  | {
      readonly kind: 'fail';
      readonly code: number;
      readonly message: string;
      readonly trailers?: { readonly [name: string]: string };
    }
  /** A read or subscription ends with UNAVAILABLE after so many events. */
  | { readonly kind: 'drop'; readonly afterEvents: number }
  /** An append is written, but its call ends with UNAVAILABLE. */
  | { readonly kind: 'lose-answer' }
  /** A write of a batch call is written, and answered with a time-out of the server. */
  | { readonly kind: 'time-out' }
  /** The call continues when the promise resolves. */
  | { readonly kind: 'hold'; readonly until: Promise<void> };

export type DoubleFaults = {
  /** Injects faults into the next calls of this kind, one fault per call. */
  next(call: DoubleCall, ...faults: readonly Fault[]): void;
  take(call: DoubleCall): Fault | undefined;
  /** Returns the number of faults of all kinds that no call has taken yet. */
  left(): number;
};

export const createDoubleFaults = (): DoubleFaults => {
  const queues = new Map<DoubleCall, Fault[]>();
  return {
    next(call, ...faults) {
      queues.set(call, [...(queues.get(call) ?? []), ...faults]);
    },
    take: (call) => queues.get(call)?.shift(),
    left: () => [...queues.values()].reduce((sum, queue) => sum + queue.length, 0),
  };
};
