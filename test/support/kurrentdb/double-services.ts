import type { Metadata } from '@grpc/grpc-js';
import type { DoubleCall, Fault } from './double-faults.ts';
import type { DoubleLog } from './double-log.ts';

/** State of the subscriptions that tests can read. */
export type Observed = {
  /** The positions they began behind, undefined for the log's beginning. */
  readonly starts: (bigint | undefined)[];
  /** Events that were given to their calls, whether they have left already or not. */
  eventsSent: number;
  /** Batch calls that were made, and those that have not ended. */
  batchCalls: number;
  openBatchCalls: number;
  /** Checkpoints of subscriptions, likewise. */
  checkpointsSent: number;
  /** Records that reads and subscriptions looked at, matching or not. */
  scanned: number;
};

/** Environment that the double's calls share. */
export type DoubleServices = {
  readonly log: DoubleLog;
  /** Largest size of an append, in bytes of data and metadata. */
  readonly maxAppendSize: number;
  /** A subscriber that has not taken what it was sent when so many more events are written is dropped. */
  readonly dropSlowAfter: number;
  readonly observed: Observed;
  /**
   * Called once for each call (each write of a batch call): refuses it when the caller may not make it, this server is no
   * leader and the caller wants one, or a fault says so; hands on the faults that concern the call's course.
   */
  enter(call: DoubleCall, metadata: Metadata): Promise<Fault | undefined>;
};
