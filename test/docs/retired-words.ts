/** A word that the project no longer uses, and what to say instead. */
export type RetiredWord = {
  readonly word: string;
  /** Matches the word with its boundaries, in any case. */
  readonly pattern: string;
  readonly say: string;
  /** The number of times that the tree still contains it. It may only fall. */
  readonly allowed: number;
};

export const RETIRED_WORDS: readonly RetiredWord[] = [
  { word: 'anew', pattern: 'anew', say: 'again; rebuild; recreate', allowed: 0 },
  { word: 'beside', pattern: 'beside', say: 'next to; along with; while', allowed: 0 },
  { word: 'whoever', pattern: 'who(m)?ever', say: 'the process, caller or user that …', allowed: 0 },
  { word: 'told', pattern: 'told', say: 'notified; given; configured', allowed: 0 },
  { word: 'speaks of', pattern: '(speaks? of|spoken of)', say: 'publishes; names', allowed: 0 },
  { word: 'of late', pattern: 'of late', say: 'recently', allowed: 0 },
  { word: 'thrice', pattern: 'thrice', say: 'three times', allowed: 0 },
  { word: 'goes forth', pattern: 'go(es)? forth', say: 'switches forward', allowed: 0 },
  { word: 'account of', pattern: 'accounts? of', say: 'stale documents', allowed: 0 },
  { word: 'goes back', pattern: '(go(es|ing|ne)?|went)[ -]back', say: 'rolls back; returns', allowed: 0 },
  { word: 'leads', pattern: 'leads(?! to\\b| from\\b| there\\b)', say: 'is the leader', allowed: 0 },
  // `3 levels with $or` is the name of a benchmark query, and about depth.
  { word: 'level with', pattern: 'levels? (with(?! `?\\$or)|at)', say: 'caught up with', allowed: 0 },
  { word: 'at rest', pattern: '(at|comes? to|came to) rest', say: 'caught up; idle', allowed: 0 },
  {
    word: 'take-over',
    // In quotes it names an operation of the operators' channel, which a running server of another version may know.
    pattern: "(?<!')take-overs?",
    say: 'switch over (a generation); takeover (a leader)',
    allowed: 0,
  },
  { word: 'mend', pattern: 'mend(s|ed|ing)?', say: 'fix; repair', allowed: 0 },
  { word: 'stands in', pattern: 'stands?', say: 'is', allowed: 0 },
  { word: 'under way', pattern: 'under way', say: 'in flight; in progress', allowed: 0 },
  { word: 'owes', pattern: 'ow(e|es|ed|ing)', say: 'has unread answers', allowed: 0 },
  { word: 'patience', pattern: '(patience|breathe)', say: 'back off; timeout', allowed: 0 },
  { word: 'makes room', pattern: 'mak(e|es|ing) room|made room', say: 'throttle', allowed: 0 },
  { word: 'leave away', pattern: '(leaves?|left|leaving) away', say: 'omit', allowed: 0 },
  {
    word: 'is no number',
    // `register with what is no address` is a key of recorded answers.
    pattern: '(?<!there )(is|are|was|were) no (?!longer\\b|more\\b|way\\b|other\\b|address\\b)',
    say: 'is not a …',
    allowed: 0,
  },
  { word: 'judge', pattern: 'judg(e|es|ed|ing)', say: 'validate; decide', allowed: 0 },
  {
    word: 'gives up the lead',
    pattern: '(gives?|gave|giving|take|takes|took|taking) (up |back )?the lead',
    say: 'steps down; becomes leader',
    allowed: 0,
  },
  { word: 'goes on', pattern: '(goes|go|going|went) on', say: 'continues', allowed: 0 },
];

/** Words that a comment must not begin with: start with a verb or with the thing's name. */
export const RETIRED_OPENINGS: readonly { readonly word: string; readonly allowed: number }[] = [
  { word: 'Of', allowed: 0 },
  { word: 'What', allowed: 0 },
  { word: 'Whoever', allowed: 0 },
  { word: 'Who', allowed: 0 },
  { word: 'As of', allowed: 0 },
  { word: 'That', allowed: 0 },
  { word: 'Whether', allowed: 0 },
  { word: 'How', allowed: 0 },
  { word: 'Whose', allowed: 0 },
  { word: 'Its', allowed: 0 },
  { word: 'Again', allowed: 0 },
  { word: 'From now on', allowed: 0 },
  { word: 'To', allowed: 0 },
  { word: 'On', allowed: 0 },
];
