import type { Generation } from '../../projections/generations/generation.ts';
import { openGenerationStore } from '../../projections/generations/generation-store.ts';
import { removeGeneration } from '../../projections/graph/store/generation-files.ts';
import { catchUpWhole } from '../../projections/projector/projector.ts';
import { openGraph } from './generation-state.ts';
import type { ReadSide } from './read-side.ts';
import type { ServedGenerations, ServedGenerationsOptions } from './served-generations.ts';

const TYPES_CHANGE =
  'the content types have changed and a new generation is being built: rollback is not available until then';

/**
 * The generations of a data directory whose index is in the process that serves: a process opens one of them. Another one is served by
 * another process, which takes this one's place (`handOver`); where nobody serves, the record names another one for the next start.
 */
export function openRowGenerations(options: ServedGenerationsOptions): ServedGenerations {
  const { data, log, plan, handOver } = options;
  const store = openGenerationStore(data);
  const number = options.generation ?? store.live().number;
  const graph = openGraph(options, number);
  let readSide: ReadSide | undefined;
  let isEarlier = false;
  /** The generation that is being taken over. */
  let switching: { readonly number: number; readonly over: Promise<void> } | undefined;

  async function openReadSide(): Promise<ReadSide> {
    if (plan === undefined) throw new Error('the generations were opened without a read side');
    readSide ??= await plan.open(graph, log);
    return readSide;
  }

  /** Nobody serves: checks that the graph can apply the log. */
  async function prepare(wanted: number): Promise<void> {
    const next = openGraph(options, wanted);
    try {
      await catchUpWhole(log, next);
    } finally {
      next.close();
    }
    store.setLive(wanted);
    removeKept((each) => each !== number);
  }

  function removeKept(isUnused: (number: number) => boolean): readonly number[] {
    const kept = store.generations().filter((each) => each.state === 'kept' && isUnused(each.number));
    // The record last: without it nobody would know of the rest.
    for (const each of kept) {
      removeGeneration(data, each.number);
      store.forget(each.number);
    }
    return kept.map((each) => each.number);
  }

  async function takeOver(wanted: number): Promise<Generation> {
    const found = store.generations().find((each) => each.number === wanted);
    if (found === undefined) throw new Error(`there is no generation ${wanted}`);
    if (found.state === 'live') return found;
    // Any other would be of earlier content types still.
    if (isEarlier && found.state !== 'building') throw new Error(TYPES_CHANGE);
    // Two commands can wait for one rebuild.
    if (switching?.number !== wanted) switching = { number: wanted, over: (handOver ?? prepare)(wanted) };
    try {
      await switching.over;
    } finally {
      switching = undefined;
    }
    return store.live();
  }

  return {
    graph,
    store,
    openReadSide,
    takeOver,
    hasIndicesOutside: false,
    refuseTakeOver() {},
    openEarlier() {
      isEarlier = true;
      return openReadSide();
    },
    enter() {
      const before = store.live().number;
      if (before !== number) store.setLive(number);
      const newest = before === number ? lastKept() : before;
      removeKept((each) => each !== newest);
    },
    // Another process serves then.
    switched: () => new Promise(() => {}),
    drop: async () => removeKept(() => true),
    async close() {
      graph.close();
      store.close();
    },
  };

  function lastKept(): number | undefined {
    return store.generations().findLast(({ state }) => state === 'kept')?.number;
  }
}
