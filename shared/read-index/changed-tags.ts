/** Tags that changed. The leader of a term records them before searches show the changes. */
export type ChangedTags = {
  /** Name of a term. A new term begins whenever searches may show a change that was not recorded. */
  readonly term: string;
  readonly epoch: number;
  /** Number of the state within its term. */
  readonly number: number;
  /** Name of the index set whose changes are recorded; undefined: changes are not recorded. */
  readonly set?: string | undefined;
  /** Position after which, up to `upTo`, all changes are in `changes`. */
  readonly since: bigint;
  /** Newest recorded position, in this term or an earlier one. */
  readonly upTo: bigint;
  /** Changes in the order of their positions. */
  readonly changes: readonly TagChange[];
  /** Index set in which a document was refused. Nobody knows which tags its next state changes. */
  readonly brokenSet?: string | undefined;
};

/** Tags, as digests, that the change at a position affects. */
export type TagChange = { readonly position: bigint; readonly tags: readonly string[] };

/** Identifies one written state. */
export type TagsVersion = { readonly sequence: number; readonly primary: number } | 'absent';

/** Identifies the newest state, with the position that searches show. */
export type TagsGlance = {
  /** The newest state; undefined: there is none. */
  readonly newest: Pick<ChangedTags, 'term' | 'number' | 'set' | 'upTo'> | undefined;
  /** Position that the leader has announced as visible in searches; undefined: none. */
  readonly announced: bigint | undefined;
};

/**
 * Storage for the newest state. All processes of a log see it. A read shows everything that was written before it. Calls reject while the
 * storage is unreachable.
 */
export type ChangedTagsStore = {
  /** Returns only what identifies the newest state. Costs less than `read`. */
  glance(): Promise<TagsGlance>;
  /** Returns the newest state; undefined if no leader has written one yet. */
  read(): Promise<ChangedTags | undefined>;
  /** Returns the newest state, and the version that the next state must replace. */
  latest(): Promise<{ readonly state: ChangedTags | undefined; readonly version: TagsVersion }>;
  /** Replaces a version. Returns the new one; undefined if another process has already replaced it. */
  replace(version: TagsVersion, state: ChangedTags): Promise<TagsVersion | undefined>;
};
