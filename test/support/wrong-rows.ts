import type { EventStore } from '../../shared/event-store/event-store.ts';
import { createKitchen, type Dish, type Kitchen, type KitchenQuery } from './kitchen.ts';
import type { Recorded } from './kitchen-load.ts';

/**
 * A wrong row of an answer. Either the log has it at no position between query and answer. Or the answer lacks it, although
 * the log has it at all of these positions.
 */
export type WrongRow = {
  readonly query: KitchenQuery;
  readonly from: bigint;
  readonly to: bigint;
  readonly documentId: string;
  readonly answered: Dish | undefined;
  /** The row in the log, position by position. */
  readonly history: readonly (Dish | undefined)[];
};

/**
 * Checks answers row by row, as an index of documents gives them. Each dish and each cook must have been so at some position between
 * question and answer. Each dish must also have matched, or not matched, at one of them.
 */
export async function wrongRows(
  log: EventStore,
  recorded: readonly Recorded[],
): Promise<readonly WrongRow[]> {
  const moments = await readMoments(log, recorded);
  return recorded.flatMap(({ query, from, to, answer }) => {
    const window = moments.between(from, to).map((moment) => moment[query.world]);
    const answered = new Map(answer.map((dish) => [dish.documentId, dish]));
    const known = new Set([...answered.keys(), ...window.flatMap(({ dishes }) => [...dishes.keys()])]);
    return [...known].flatMap((documentId) => {
      const row = answered.get(documentId);
      if (isRight(window, documentId, row, query.cookContains)) return [];
      const history = window.map(({ dishes }) => dishes.get(documentId));
      return [{ query, from, to, documentId, answered: row, history }];
    });
  });
}

type WorldMoment = {
  readonly dishes: ReadonlyMap<string, Dish>;
  readonly cookOf: ReadonlyMap<string, string | null>;
  readonly cooks: ReadonlyMap<string, string>;
};

function isRight(
  window: readonly WorldMoment[],
  documentId: string,
  row: Dish | undefined,
  letter: string | undefined,
): boolean {
  const states = window.map(({ dishes }) => dishes.get(documentId));
  const matches = (state: Dish | undefined) =>
    state !== undefined && (letter === undefined || (state.cook ?? '').includes(letter));
  if (row === undefined) return states.some((state) => !matches(state));
  return (
    states.some(matches) &&
    states.some((state) => state?.name === row.name) &&
    cookNames(window, documentId).has(row.cook)
  );
}

/** Returns the names, at any position, of the cooks that a dish has at any position. */
function cookNames(window: readonly WorldMoment[], documentId: string): ReadonlySet<string | null> {
  const linked = new Set(window.map(({ cookOf }) => cookOf.get(documentId) ?? null));
  return new Set(
    [...linked].flatMap((cook) =>
      cook === null ? [null] : window.map(({ cooks }) => cooks.get(cook) ?? null),
    ),
  );
}

type Moment = { readonly [World in KitchenQuery['world']]: WorldMoment };

async function readMoments(
  log: EventStore,
  recorded: readonly Recorded[],
): Promise<{ between(from: bigint, to: bigint): readonly Moment[] }> {
  const [first = 0n] = recorded.map(({ from }) => from).sort((a, b) => Number(a - b));
  const kitchen = createKitchen();
  const moments: (readonly [bigint, Moment])[] = [];
  for await (const events of log.readAll(0n)) {
    for (const event of events) {
      kitchen.apply(event);
      if (event.position < first) continue;
      moments.push([
        event.position,
        { draft: momentOf(kitchen, 'draft'), published: momentOf(kitchen, 'published') },
      ]);
    }
  }
  return {
    between: (from, to) =>
      moments.filter(([position]) => position >= from && position <= to).map(([, moment]) => moment),
  };
}

function momentOf(kitchen: Kitchen, world: KitchenQuery['world']): WorldMoment {
  return {
    dishes: new Map(kitchen.answer({ world }).map((dish) => [dish.documentId, dish])),
    cookOf: kitchen.cookOf(world),
    cooks: kitchen.cooks(world),
  };
}
