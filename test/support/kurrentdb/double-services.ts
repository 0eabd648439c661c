import type { Metadata } from '@grpc/grpc-js';
import type { DoubleCall, Fault } from './double-faults.ts';
import type { DoubleLog } from './double-log.ts';

/** Server whose answers the double gives: EventStoreDB 24.2 or KurrentDB 26.1. test/support/kurrentdb/recorded has what real ones answered. */
export type DoubleVersion = '24.2' | '26.1';

/** Returns the version of doubles for which a test names none. VARVE_TEST_DOUBLE=26.1 runs the same tests on the other one. */
export const defaultVersion = (): DoubleVersion =>
  process.env['VARVE_TEST_DOUBLE'] === '26.1' ? '26.1' : '24.2';

/** State of the subscriptions that tests can read. */
export type Observed = {
  /** Positions after which the subscriptions began. undefined: at the log's beginning. */
  readonly starts: (bigint | undefined)[];
  /** Number of events that were passed to gRPC, even if gRPC has not sent them yet. */
  eventsSent: number;
  /** Number of batch calls so far, and of those that have not ended. */
  batchCalls: number;
  openBatchCalls: number;
  /** Encodings that callers accepted, as they said it. */
  readonly encodings: Set<string>;
  /** Number of checkpoints that were passed to gRPC. */
  checkpointsSent: number;
  /** Number of records that reads and subscriptions looked at, matching or not. */
  scanned: number;
};

/** Environment that the double's calls share. */
export type DoubleServices = {
  readonly server: DoubleVersion;
  readonly log: DoubleLog;
  /** Largest size of an append, in bytes of data and metadata. */
  readonly maxAppendSize: number;
  /** A subscriber is dropped if so many events are written while it does not receive a message. */
  readonly dropSlowAfter: number;
  /** True if a checkpoint may be the position of the next event, as from 25.0.0 until 25.0.1. */
  readonly checkpointsAhead: boolean;
  readonly observed: Observed;
  /**
   * Called at the beginning of every call and of every write of a batch call. Throws if the caller may not make the call, if the call
   * requires the leader and this node is another, and if a test injected a failure. `records`: number of an append's records. Returns an
   * injected fault that applies later.
   */
  enter(call: DoubleCall, metadata: Metadata, records?: number): Promise<Fault | undefined>;
  /** `lost`: the leader is gone, and an election begins. `nobody`: there is no majority. In both a node cannot forward an append. */
  leaderState(): 'known' | 'lost' | 'nobody';
};
