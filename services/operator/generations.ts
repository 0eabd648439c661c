import { z } from 'zod';
import type { Rebuild } from '../../projections/generations/generation.ts';
import { catchUpOrThrow } from '../../projections/graph/projector.ts';
import { isLeaderElsewhere, LeaderElsewhere } from '../read-side/outside-generation.ts';
import { defineLook, defineOperation, type OperatorContext } from './operation.ts';
import { watchLoad } from './watch-load.ts';

/** Yields one line: the position of the live graph, once it has caught up with the log. */
export const catchUpOperation = defineOperation({
  form: z.strictObject({}),
  async *run({ graph, log, server }) {
    // The graph of a server applies the log anyway.
    if (!server) await catchUpOrThrow(log, graph);
    yield { position: String(graph.position()) };
  },
});

/** Switches over. Answers with one line: the generation that is live from now on. */
export const takeOverOperation = defineOperation({
  form: z.strictObject({ generation: z.int().positive() }),
  async *run({ generations }, { generation }) {
    yield await generations.takeOver(generation);
  },
});

/**
 * Rebuilds. Answers with the lines that the rebuild reports. The last line is its end: the generation is live, or cannot be switched over
 * to. A caller that does not wait for the end interrupts the rebuild.
 */
export const rebuildOperation = defineOperation({
  ofLeader: 'again',
  http: { summary: 'Rebuild the read model next to the live one, verify it, and switch over', answer: 'one' },
  form: z.strictObject({
    graph: z.boolean().default(false),
    copy: z.literal(true).optional(),
    type: z.string().optional(),
    world: z.string().optional(),
    maxRate: z.string().optional(),
    accept: z.boolean().default(false),
  }),
  async *run(context, request, signal) {
    const { generations, build, asked } = context;
    if (build === undefined) throw new Error('no server serves this data directory');
    generations.refuseTakeOver();
    let made: Rebuild | undefined;
    for await (const line of build(request, signal)) {
      made = line;
      yield line;
    }
    // A process that loses the lease cancels its rebuild, and may be the leader again by now.
    if (made?.phase === 'cancelled' && isLeaderElsewhere(made.message)) throw new LeaderElsewhere();
    if (made?.phase !== 'taking over') return;
    if (asked !== undefined) generations.store.noteRequest(asked, made.generation);
    await takeOverOrDiscard(context, made, signal);
    yield generations.store.rebuild() ?? made;
  },
});

/**
 * Switches over to a generation that was made. If that fails, the generation is removed: the old one stays live. If it failed because another
 * process became the leader, that process can make it again.
 */
async function takeOverOrDiscard(
  { generations, rebuilds }: OperatorContext,
  made: Rebuild,
  signal: AbortSignal,
): Promise<void> {
  try {
    await generations.takeOver(made.generation);
  } catch (error) {
    // A process that ends cannot clean up. The next one of its directory does.
    if (!signal.aborted) await rebuilds?.discard(made, (error as Error).message).catch(() => {});
    throw error;
  }
}

/** An item that differs between the live generation and the new one. It has no contents, which may be private. */
export type RebuildDifference = {
  /** Rows of a content type in a world, or another part of the graph. */
  readonly group: string;
  readonly name: string;
  /** `missing` and `unexpected`: only the live generation has it, or only the new one. `content`: both have it, and it differs. */
  readonly differing: 'missing' | 'unexpected' | 'content';
};

/** Answers with a line for each recorded difference of the rebuild that the verification stopped. */
export const differencesOperation = defineLook({
  http: { summary: 'List the differences that stopped the last rebuild, without values', answer: 'all' },
  form: z.strictObject({}),
  async *run({ generations: { store } }): AsyncGenerator<RebuildDifference> {
    if (store.rebuild()?.phase !== 'stopped') return;
    for (const { group, name, before, after } of store.differences()) {
      const differing = before === undefined ? 'unexpected' : after === undefined ? 'missing' : 'content';
      yield { group, name, differing };
    }
  },
});

/** Returns why a rollback is not possible, and what to do. With indices outside, another leader may have made the last switch. */
function nothingKept(data: string, hasIndicesOutside: boolean): string {
  const found = `there is no kept generation to switch to in ${data}, the data directory of the leader`;
  return hasIndicesOutside
    ? `${found}. If another process was the leader at the last rebuild, stop the leader, so that that process becomes it again, and repeat the command. Otherwise varve rebuild makes a generation`
    : `${found}: varve rebuild makes a generation`;
}

/**
 * Rolls back. Answers with one line: the previous generation, which is live again. A request with the same id switches once: the process that
 * was asked first may end before its answer.
 */
export const rollbackOperation = defineOperation({
  ofLeader: 'once',
  http: { summary: 'Switch back to the generation before the last rebuild', answer: 'one', destroys: true },
  form: z.strictObject({ id: z.uuid().optional() }),
  async *run({ data, generations, asked }, { id }) {
    const { store } = generations;
    const begun = id === undefined ? undefined : store.requested(id);
    const wanted = begun ?? store.generations().findLast(({ state }) => state === 'kept')?.number;
    if (wanted === undefined) throw new Error(nothingKept(data, generations.hasIndicesOutside));
    for (const request of [id, asked]) if (request !== undefined) store.noteRequest(request, wanted);
    yield await generations.takeOver(wanted);
  },
});

/** Drops generations. Answers with a line for each dropped one. */
export const dropOperation = defineOperation({
  ofLeader: 'again',
  http: { summary: 'Remove the generation that is kept for a rollback', answer: 'all', destroys: true },
  form: z.strictObject({}),
  async *run({ generations, rebuilds }) {
    for (const number of await generations.drop()) yield { number };
    for (const index of (await rebuilds?.dropOfOthers()) ?? []) yield { index };
  },
});

/** Pauses or cancels the rebuild that is running. Answers with one line: the rebuild. */
export const interruptOperation = defineOperation({
  ofLeader: 'again',
  http: { summary: 'Pause or cancel the rebuild that is running', answer: 'one' },
  form: z.strictObject({ wanted: z.enum(['pause', 'cancel']) }),
  async *run({ rebuilds }, { wanted }) {
    if (rebuilds === undefined) throw new Error('no server serves this data directory');
    yield await rebuilds.interrupt(wanted);
  },
});

/**
 * Answers without a line, or fails if the process that holds the directory cannot switch over to a generation that the command makes.
 * `outside` is true if the command would make indices outside the process.
 */
export const canRebuildOperation = defineOperation({
  ofLeader: 'again',
  form: z.strictObject({ outside: z.boolean() }),
  async *run({ generations }, { outside }) {
    generations.refuseTakeOver();
    if (outside !== generations.hasIndicesOutside) throw new Error(outside ? NONE_OUTSIDE : OUTSIDE);
    yield {};
  },
});

const OUTSIDE = "the server has its read model in Elasticsearch: pass the server's --read-index";
const NONE_OUTSIDE = 'the server has an embedded read index: omit --read-index, as for the server';

/** Answers with a line twice a second until the caller disconnects: how long requests wait in the server. */
export const loadOperation = defineOperation({
  form: z.strictObject({}),
  run: (_context, _request, signal) => watchLoad(signal),
});
