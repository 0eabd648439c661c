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
  { word: 'anew', pattern: 'anew', say: 'again; rebuild; recreate', allowed: 77 },
  { word: 'beside', pattern: 'beside', say: 'next to; along with; while', allowed: 117 },
  { word: 'whoever', pattern: 'who(m)?ever', say: 'the process, caller or user that …', allowed: 21 },
  { word: 'told', pattern: 'told', say: 'notified; given; configured', allowed: 98 },
  { word: 'speaks of', pattern: '(speaks? of|spoken of)', say: 'publishes; names', allowed: 4 },
  { word: 'of late', pattern: 'of late', say: 'recently', allowed: 8 },
  { word: 'thrice', pattern: 'thrice', say: 'three times', allowed: 3 },
  { word: 'goes forth', pattern: 'go(es)? forth', say: 'switches forward', allowed: 3 },
  { word: 'account of', pattern: 'accounts? of', say: 'stale documents', allowed: 6 },
  { word: 'goes back', pattern: '(go(es|ing|ne)?|went)[ -]back', say: 'rolls back; returns', allowed: 7 },
  { word: 'leads', pattern: 'leads(?! to\\b| from\\b| there\\b)', say: 'is the leader', allowed: 94 },
  { word: 'level with', pattern: 'levels? (with|at)', say: 'caught up with', allowed: 18 },
  { word: 'at rest', pattern: '(at|comes? to|came to) rest', say: 'caught up; idle', allowed: 7 },
  {
    word: 'take-over',
    pattern: 'take-overs?',
    say: 'switch over (a generation); takeover (a leader)',
    allowed: 7,
  },
  { word: 'mend', pattern: 'mend(s|ed|ing)?', say: 'fix; repair', allowed: 6 },
  { word: 'stands in', pattern: 'stands?', say: 'is', allowed: 101 },
  { word: 'under way', pattern: 'under way', say: 'in flight; in progress', allowed: 29 },
  { word: 'owes', pattern: 'ow(e|es|ed|ing)', say: 'has unread answers', allowed: 17 },
  { word: 'patience', pattern: '(patience|breathe)', say: 'back off; timeout', allowed: 78 },
  { word: 'makes room', pattern: 'mak(e|es|ing) room|made room', say: 'throttle', allowed: 10 },
  { word: 'leave away', pattern: '(leaves?|left|leaving) away', say: 'omit', allowed: 3 },
  {
    word: 'is no number',
    pattern: '(is|are|was|were) no (?!longer\\b|more\\b|way\\b|other\\b)',
    say: 'is not a …',
    allowed: 172,
  },
  { word: 'judge', pattern: 'judg(e|es|ed|ing)', say: 'validate; decide', allowed: 135 },
  {
    word: 'gives up the lead',
    pattern: '(gives?|gave|giving|take|takes|took|taking) (up |back )?the lead',
    say: 'steps down; becomes leader',
    allowed: 9,
  },
  { word: 'goes on', pattern: '(goes|go|going|went) on', say: 'continues', allowed: 123 },
];

/** Words that a comment in product code must not begin with: start with a verb or with the thing's name. */
export const RETIRED_OPENINGS: readonly { readonly word: string; readonly allowed: number }[] = [
  { word: 'Of', allowed: 21 },
  { word: 'What', allowed: 57 },
  { word: 'Whoever', allowed: 5 },
  { word: 'Who', allowed: 3 },
  { word: 'As of', allowed: 3 },
  { word: 'That', allowed: 5 },
];
