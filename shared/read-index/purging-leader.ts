/** Announcement of a leader that purges changed answers of all processes. `shape`: see `ComposedApi`. */
export type PurgingLeader = { readonly epoch: number; readonly shape: string };

/** Storage for the announcement. All processes of a log see it. Calls reject while the storage is unreachable. */
export type PurgingLeaderStore = {
  /** Returns the last announcement; undefined: there is none. */
  read(): Promise<PurgingLeader | undefined>;
  write(leader: PurgingLeader): Promise<void>;
};
