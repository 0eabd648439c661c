/** Task of a process that serves a past or makes a snapshot: its first message. */
export type PastTask = ServePast | MakeSnapshot;

export type ServePast = {
  readonly kind: 'serve';
  /** The last position of the log that its answers show. */
  readonly position: string;
  /** Instant (ms since 1970) of a preview, whose answers also show the releases that are due then; undefined for a past. */
  readonly until: number | undefined;
  /** File of the live graph, which the process copies; undefined if it is later than the position. */
  readonly live: string | undefined;
  /** Number of the live generation. */
  readonly generation: number;
  /** Names of the content types in force. */
  readonly types: readonly string[];
  /** Maximum number of rows. */
  readonly maxRows: number;
  /** Key of cursors, base64. */
  readonly cursorKey: string;
  /** Secret of requests to it. */
  readonly secret: string;
};

export type MakeSnapshot = {
  readonly kind: 'snapshot';
  /** File of the live graph, and its generation. */
  readonly live: string;
  readonly generation: number;
};

/**
 * Message of such a process. The server ends it after each but `serving`. `refused`: it has more rows than the limit. `full`: the disk is full.
 * `made`: it has made a snapshot. `tooLarge`: it has removed the snapshot, which took too much of the log's size.
 */
export type FromPast =
  | { readonly kind: 'serving'; readonly address: string }
  | { readonly kind: 'refused'; readonly rows: number }
  | { readonly kind: 'full' }
  | { readonly kind: 'made' | 'tooLarge' };
