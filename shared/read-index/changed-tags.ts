/** Tags that changed, as the leader of a term noted them before searches showed the changes. */
export type ChangedTags = {
  /** Another one whenever searches may show a change that was not noted. */
  readonly term: string;
  readonly epoch: number;
  /** Counts the states of a term. */
  readonly number: number;
  /** Names the index set whose changes are noted; undefined: changes are not noted. */
  readonly set?: string | undefined;
  /** All changes after this position, up to `upTo`, are in `changes`. */
  readonly since: bigint;
  /** Newest position that was noted, in this term or an earlier one. */
  readonly upTo: bigint;
  /** In the order of their positions. */
  readonly changes: readonly TagChange[];
  /** Index set in which a document was refused: what its next state changes is not known. */
  readonly brokenSet?: string | undefined;
};

/** `tags`: digests. */
export type TagChange = { readonly position: bigint; readonly tags: readonly string[] };

/** Names one state that was written. */
export type TagsVersion = { readonly sequence: number; readonly primary: number } | 'absent';

/** Names the newest state, and says how far searches are. */
export type TagsGlance = {
  /** undefined: there is no state. */
  readonly newest: Pick<ChangedTags, 'term' | 'number' | 'set' | 'upTo'> | undefined;
  /** Position that the leader has announced as shown; undefined: none. */
  readonly announced: bigint | undefined;
};

/** The newest state, where all processes of a log see it. Reads show what was written before them. Calls reject while it is unreachable. */
export type ChangedTagsStore = {
  /** Costs less than `read`. */
  glance(): Promise<TagsGlance>;
  /** undefined: no leader has written one yet. */
  read(): Promise<ChangedTags | undefined>;
  /** The newest state, and the version that has to be replaced by the next. */
  latest(): Promise<{ readonly state: ChangedTags | undefined; readonly version: TagsVersion }>;
  /** Replaces a version. Returns the new one; undefined: another process has replaced it before. */
  replace(version: TagsVersion, state: ChangedTags): Promise<TagsVersion | undefined>;
};
