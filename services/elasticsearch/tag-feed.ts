/** Receives the tags of a change, as digests, for each position that the graph reaches. */
export type NoteTags = (position: bigint, tags: readonly string[]) => void;

/** Passes the tags of changes to the term of this process as leader. */
export type TagFeed = ReturnType<typeof createTagFeed>;

/** Creates a feed. Tags that come before a receiver is connected are lost. */
export function createTagFeed() {
  let hasBegun = false;
  let receiver: NoteTags = () => {};
  return {
    /** Begins the feed, and returns the function that receives tags. Must be called before this process is the leader. */
    begin(): NoteTags {
      hasBegun = true;
      return (position, tags) => receiver(position, tags);
    },
    hasBegun: () => hasBegun,
    /** Connects the receiver of all later tags. */
    connect(note: NoteTags): void {
      receiver = note;
    },
  };
}
