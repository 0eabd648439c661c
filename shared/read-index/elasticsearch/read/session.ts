import { valueAt } from '../../../map-values.ts';
import type { RecentValues } from '../../../recent-values.ts';
import type { Uid } from '../../../schema/content-type.ts';
import type { IndexSet } from '../../index-set.ts';
import type { RowSet, World } from '../../read-index.ts';
import type { KnownFaults } from '../indices/known-faults.ts';
import type { IndexNames } from '../layout/index-names.ts';
import type { FoundWord } from '../layout/word-tokens.ts';
import type { Layouts } from '../plan/plan-query.ts';
import { uncopiedQuery } from '../plan/uncopied-query.ts';
import { unreadable } from '../wire/refusal.ts';
import type { RowDetails, SearchAnswer } from '../wire/search-answer.ts';
import type { SearchEngine } from '../wire/search-engine.ts';
import type { Search, SearchBody } from '../wire/write-search.ts';
import type { CurrentSet } from './current-set.ts';
import type { RowCache } from './row-cache.ts';
import { searchKnownRows } from './search-known-rows.ts';

/** Totals that the last far page of a query has counted, by index and query. */
export type KnownTotals = RecentValues<string, number>;

/** Context of every request to the index. */
export type SearchContext = {
  readonly engine: SearchEngine;
  /** Cache of rows. Absent: every search reads rows. */
  readonly rows?: RowCache;
  readonly names: IndexNames;
  readonly layouts: Layouts;
  /** Maximum keys of a semi-join, over all its pages. */
  readonly semiJoinLimit: number;
  /** Maximum matching rows that the process sorts, if the documents do not contain a sort key. */
  readonly sortLimit: number;
  /** Maximum matching rows that the process reads to group them. More are grouped in rounds. */
  readonly groupLimit: number;
  readonly totals: KnownTotals;
  /** Index set that is read. */
  readonly indices: Pick<CurrentSet, 'get' | 'refresh'>;
  /** Indices that must not be read. */
  readonly faults: Pick<KnownFaults, 'refusing'>;
  /** Indices in which documents without copies were found. */
  readonly uncopied: Set<string>;
};

/** Reads of one answer or of a single call: one world, with the rows read so far. */
export type Session = SearchContext & {
  readonly world: World;
  readonly known: Map<string, Map<number, RowDetails>>;
  /** Words of documents that were requested, by type, locale and pattern. */
  readonly vocabularies: Map<string, Promise<readonly FoundWord[]>>;
  /** Searches one type. Searches that start before the first of them has its answer share one request. */
  search(type: Uid, body: SearchBody): Promise<SearchAnswer>;
  /**
   * Returns whether documents of a type are known to lack copies. If they are not, the assumption that they have all copies is checked
   * together with the searches that follow (see `withCopies`).
   */
  isUncopied(type: Uid): boolean;
  /** Records that documents of a type lack copies. */
  noteUncopied(type: Uid): void;
  /** The requests so far, each with its searches. */
  readonly sent: (readonly Search[])[];
};

/** The leader notices this within seconds, and then says more. */
const NO_INDEX = 'it has no index in Elasticsearch';

/** Opens the session of one answer. `set`: the indices that it reads from first to last. */
export function openSession(context: SearchContext, world: World, set: IndexSet): Session {
  const sent: (readonly Search[])[] = [];
  const search = searchTogether(context, sent);
  const indexOf = (type: Uid) => {
    const alias = context.names.alias(type, world);
    return set[alias] ?? alias;
  };
  return {
    ...context,
    world,
    known: new Map(),
    vocabularies: new Map(),
    search(type, body) {
      const fault = context.faults.refusing(type);
      if (fault !== undefined) return Promise.reject(unreadable(type, fault.reason));
      const index = set[context.names.alias(type, world)];
      if (index === undefined) return Promise.reject(unreadable(type, NO_INDEX));
      return search({ index, body });
    },
    isUncopied: (type) => context.uncopied.has(indexOf(type)),
    noteUncopied: (type) => void context.uncopied.add(indexOf(type)),
    sent,
  };
}

/**
 * Reads with the assumption that the documents have copies of all linked rows. If documents of a type without copies are found, it reads
 * again without that assumption.
 */
export async function withCopies<Result>(
  session: Session,
  read: (session: Session) => Promise<Result>,
): Promise<Result> {
  for (;;) {
    const assumed = new Map<Uid, Promise<boolean>>();
    const isUncopied = (type: Uid): boolean => {
      if (session.isUncopied(type)) return true;
      // A failure is reported below, or by the read itself.
      valueAt(assumed, type, () => findUncopied(session, type)).catch(() => {});
      return false;
    };
    const result = await read({ ...session, isUncopied });
    const found = await Promise.all(assumed.values());
    if (!found.includes(true)) return result;
  }
}

/** Looks for a document without copies, and remembers that its index has one. */
async function findUncopied(session: Session, type: Uid): Promise<boolean> {
  const query = uncopiedQuery(session.layouts(type));
  const { hits } = await session.search(type, { size: 0, query, track_total_hits: true, terminate_after: 1 });
  const isFound = (hits.total?.value ?? 0) > 0;
  if (isFound) session.noteUncopied(type);
  return isFound;
}

type Waiting = { readonly search: Search; readonly answer: PromiseWithResolvers<SearchAnswer> };

/**
 * Returns a search function that joins searches into one request, which costs both sides less than several. So the attributes of one level
 * are traversed together. Requests of different answers never wait for each other.
 */
function searchTogether(
  { engine, rows }: SearchContext,
  sent: (readonly Search[])[],
): (search: Search) => Promise<SearchAnswer> {
  let waiting: Waiting[] = [];
  const send = (searches: readonly Search[]) => {
    sent.push(searches);
    return engine.search(searches);
  };
  const sendWaiting = async () => {
    const together = waiting;
    waiting = [];
    const searches = together.map(({ search }) => search);
    try {
      const answers = await (rows === undefined ? send(searches) : searchKnownRows(rows, searches, send));
      for (const [i, { answer }] of together.entries()) answer.resolve(answers[i] as SearchAnswer);
    } catch (error) {
      for (const { answer } of together) answer.reject(error);
    }
  };
  return (search) => {
    // The next tick runs after everything that can continue has done so.
    if (waiting.length === 0) process.nextTick(sendWaiting);
    const answer = Promise.withResolvers<SearchAnswer>();
    waiting.push({ search, answer });
    return answer.promise;
  };
}

/** Returns the rows of a row set that this answer has read so far, by key. */
export function knownRows(session: Session, rowSet: RowSet): Map<number, RowDetails> {
  const name = rowSet.path.length === 0 ? rowSet.type : JSON.stringify(rowSet);
  return valueAt(session.known, name, () => new Map());
}
