/** Task of a process that serves a past: its first message. */
export type PastTask = {
  /** The last position of the log that its answers show. */
  readonly position: string;
  /** Earlier graphs, the latest first. The process copies the first one that it can use. */
  readonly bases: readonly string[];
  /** Names of the content types in force. */
  readonly types: readonly string[];
  /** Maximum number of rows. */
  readonly maxRows: number;
  /** Key of cursors, base64. */
  readonly cursorKey: string;
  /** Secret of requests to it. */
  readonly secret: string;
};

/** Message of such a process. `refused`: it has more rows than the limit, and ends. */
export type FromPast =
  | { readonly kind: 'serving'; readonly address: string }
  | { readonly kind: 'refused'; readonly rows: number };
