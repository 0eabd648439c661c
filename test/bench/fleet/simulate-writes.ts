/**
 * A model of the writing side of a fleet on Elasticsearch. Each edit makes documents stale, and one leader writes them, as
 * projections/index-writer/index-writer.ts does. Documents that a client waits for come first: one request at a time, with all that
 * became stale meanwhile. Copies of rows that many documents embed go into a backlog. The newest edits of the backlog come first, and a
 * document is written once however often it was marked. The rates are inputs, measured elsewhere; the simulation shows what follows.
 */
export type WriterRates = {
  /** Documents a second that the leader makes and Elasticsearch accepts, if they have nothing else to do. */
  readonly bulkPerSecond: number;
  /** Milliseconds until searches find the documents of a request: the refresh of the shards that it changed. */
  readonly refreshMs: number;
  /** Edits a second that the leader decides, stores and applies. */
  readonly writesPerSecond: number;
};

/** `copies` documents embed the edited row in `share` of all edits. */
export type FanOut = readonly { readonly share: number; readonly copies: number }[];

export type WriteLoad = {
  readonly editsPerSecond: number;
  readonly fanOut: FanOut;
  /** Edits of rows that very many documents embed, such as the name of a country. */
  readonly bursts: readonly { readonly atSecond: number; readonly copies: number }[];
  /** Number of documents that may enter the backlog. The more there are, the less often one is marked twice. */
  readonly embedding: number;
  readonly seconds: number;
};

export type WriteOutcome = {
  /** Milliseconds from an edit until searches show the row itself, and its copies if they are few. */
  readonly visibleP50: number;
  readonly visibleP99: number;
  readonly largestBacklog: number;
  /** Longest wait of a document in the backlog, in seconds: the lag of copies. */
  readonly oldestSeconds: number;
  /** Seconds from the last burst until no copy was stale. undefined: copies stayed stale, or there was no burst. */
  readonly atRestAfter: number | undefined;
  /** Number of documents that were marked again before they were written. Each saves one write. */
  readonly coalesced: number;
  readonly written: number;
  readonly marked: number;
  readonly left: number;
};

type Cohort = { readonly at: number; documents: number };
type Request = { readonly edits: readonly number[]; readonly endsAt: number };

/** An edit that makes more copies stale than this puts them into the backlog (docs/elasticsearch.md). */
const PROMPT_COPIES = 100;
const LARGEST_REQUEST = 2_000;
const TICK_MS = 5;

export function simulateWrites(rates: WriterRates, load: WriteLoad, random: () => number): WriteOutcome {
  const model = createModel(rates, load.embedding);
  const bursts = [...load.bursts].sort((one, other) => one.atSecond - other.atSecond);
  const lastBurst = (bursts.at(-1)?.atSecond ?? Number.POSITIVE_INFINITY) * 1_000;
  // The leader accepts at most `writesPerSecond`. The model ignores edits that wait for the leader to accept them.
  const editsPerTick = (Math.min(load.editsPerSecond, rates.writesPerSecond) * TICK_MS) / 1_000;
  let restAt: number | undefined;
  for (let now = 0; now < load.seconds * 1_000; now += TICK_MS) {
    for (let edits = arrivals(editsPerTick, random); edits > 0; edits--) {
      model.mark(now, drawCopies(load.fanOut, random));
    }
    while (bursts[0] !== undefined && bursts[0].atSecond * 1_000 <= now) {
      model.mark(now, bursts.shift()?.copies ?? 0);
    }
    model.write(now);
    if (now >= lastBurst && model.backlog() === 0) restAt ??= now;
  }
  return {
    ...model.outcome(),
    atRestAfter: restAt === undefined ? undefined : (restAt - lastBurst) / 1_000,
  };
}

function createModel(rates: WriterRates, embedding: number) {
  const waiting: Cohort[] = [];
  const backlog: Cohort[] = [];
  const latencies: number[] = [];
  const sums = { marked: 0, written: 0, coalesced: 0, backlog: 0, largest: 0, oldest: 0 };
  let request: Request | undefined;
  const writePrompt = (now: number) => {
    if (request !== undefined && request.endsAt <= now) {
      for (const at of request.edits) latencies.push(request.endsAt - at);
      request = undefined;
    }
    if (request !== undefined || waiting.length === 0) return;
    const { edits, documents } = takeRequest(waiting);
    // Both lanes share the leader's rate. If one is empty, the other gets all of it.
    const share = backlog.length > 0 ? 0.5 : 1;
    const ms = (documents / (rates.bulkPerSecond * share)) * 1_000 + rates.refreshMs;
    request = { edits, endsAt: now + ms };
    sums.written += documents;
  };
  const writeBacklog = (now: number) => {
    const share = request === undefined ? 1 : 0.5;
    const done = takeNewest(backlog, Math.min(sums.backlog, (rates.bulkPerSecond * share * TICK_MS) / 1_000));
    sums.backlog -= done;
    sums.written += done;
    sums.largest = Math.max(sums.largest, sums.backlog);
    if (backlog[0] !== undefined) sums.oldest = Math.max(sums.oldest, now - backlog[0].at);
  };
  return {
    backlog: () => backlog.length,
    mark(at: number, copies: number) {
      sums.marked += 1 + copies;
      const isPrompt = copies <= PROMPT_COPIES;
      waiting.push({ at, documents: 1 + (isPrompt ? copies : 0) });
      if (isPrompt) return;
      const again = Math.round(copies * Math.min(1, sums.backlog / embedding));
      takeNewest(backlog, again);
      sums.coalesced += again;
      sums.backlog += copies - again;
      backlog.push({ at, documents: copies });
    },
    write(now: number) {
      writePrompt(now);
      writeBacklog(now);
    },
    outcome: () => outcomeOf(sums, latencies, waiting),
  };
}

type Sums = {
  readonly [name in 'marked' | 'written' | 'coalesced' | 'backlog' | 'largest' | 'oldest']: number;
};

function outcomeOf(sums: Sums, latencies: number[], waiting: readonly Cohort[]) {
  latencies.sort((one, other) => one - other);
  return {
    visibleP50: quantile(latencies, 0.5),
    visibleP99: quantile(latencies, 0.99),
    largestBacklog: Math.round(sums.largest),
    oldestSeconds: sums.oldest / 1_000,
    coalesced: sums.coalesced,
    written: Math.round(sums.written),
    marked: sums.marked,
    left: Math.round(sums.backlog + waiting.reduce((sum, { documents }) => sum + documents, 0)),
  };
}

/** Takes documents off the newest cohorts; returns how many there were. */
function takeNewest(backlog: Cohort[], wanted: number): number {
  let taken = 0;
  while (taken < wanted) {
    const newest = backlog.at(-1);
    if (newest === undefined) break;
    const part = Math.min(newest.documents, wanted - taken);
    newest.documents -= part;
    taken += part;
    if (newest.documents < 1e-6) backlog.pop();
  }
  return taken;
}

function takeRequest(waiting: Cohort[]): { readonly edits: readonly number[]; readonly documents: number } {
  const edits: number[] = [];
  let documents = 0;
  while (
    waiting[0] !== undefined &&
    (documents === 0 || documents + waiting[0].documents <= LARGEST_REQUEST)
  ) {
    const { at, documents: more } = waiting.shift() as Cohort;
    edits.push(at);
    documents += more;
  }
  return { edits, documents };
}

/** Draws the number of edits that arrive in a tick from a Poisson distribution (Knuth's algorithm). */
function arrivals(mean: number, random: () => number): number {
  const limit = Math.exp(-mean);
  let count = -1;
  for (let product = 1; product > limit; product *= random()) count++;
  return count;
}

function drawCopies(fanOut: FanOut, random: () => number): number {
  let left = random();
  for (const { share, copies } of fanOut) {
    left -= share;
    if (left < 0) return copies;
  }
  return 0;
}

function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
