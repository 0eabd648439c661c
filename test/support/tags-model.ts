import { createTagReader } from '../../services/elasticsearch/tag-reader.ts';
import { createTagTerm, type TagTerm } from '../../services/elasticsearch/tag-term.ts';
import type { ChangedTagsStore } from '../../shared/read-index/changed-tags.ts';
import { createMemoryChangedTags } from './memory-changed-tags.ts';

/** Documents of the model, each with a tag of its own name. */
export const NAMES = ['a', 'b', 'c', 'd'] as const;
export type Name = (typeof NAMES)[number];

/** Step of the model. `who` selects one of the processes. */
export type Step =
  | { readonly kind: 'edit'; readonly names: readonly Name[] }
  | WriterStep
  | ReaderStep
  | { readonly kind: 'take over'; readonly notes: boolean; readonly rebuilds: boolean }
  | { readonly kind: 'fail'; readonly when: 'before' | 'after' }
  | { readonly kind: 'refuse' | 'accept'; readonly name: Name }
  | { readonly kind: 'delete' | 'snapshot' | 'restore' };
type WriterStep = {
  readonly kind: 'apply' | 'send' | 'announce' | 'pause' | 'continue' | 'stop';
  readonly who: number;
};
type ReaderStep =
  | { readonly kind: 'hear claim' | 'read progress' | 'look' }
  | { readonly kind: 'answer'; readonly name: Name };

/** Position of the state that searches show of each document. */
type Documents = Map<Name, bigint>;

/** A process that is or was the leader. It is not notified that another one has become leader. */
type Writer = {
  readonly term: TagTerm;
  readonly stopping: AbortController;
  readonly set: string;
  /** True if the process has begun its term. */
  mayWrite: boolean;
  /** Position of its graph. */
  applied: bigint;
  /** Position up to which searches show everything. */
  complete: bigint;
  /** Promise that the process awaits before each effect that others can see. */
  paused: PromiseWithResolvers<void> | undefined;
};

/** An answer that shows one document. */
type Answer = {
  readonly name: Name;
  readonly shows: bigint | undefined;
  readonly position: bigint;
  readonly term: string;
};

/** `take` returns the number of answers that were found unchanged. Throws if one of them has changed. */
export type TagsModel = { take(step: Step): Promise<number>; end(): void };

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/**
 * A model in memory of a log, documents in index sets, processes that write them and one that reads them. Processes can be paused before
 * and after each request. Leaders use the code under test to note tags. The reader uses it to find changes.
 */
export function createTagsModel(): TagsModel {
  const store = createMemoryChangedTags();
  const log: { readonly position: bigint; readonly names: readonly Name[] }[] = [];
  const sets = new Map<string, Documents>([['set 0', new Map()]]);
  const refused = new Set<Name>();
  const writers: Writer[] = [];
  let [epoch, position, live] = [0, 10n, 'set 0'];
  let announced: bigint | undefined;
  /** Requests in flight with documents. */
  let sending = 0;
  let restore = () => {};
  // The reading process.
  const reader = { epoch: 0, shown: 0n, set: live, answers: [] as Answer[] };
  let seen: Documents = new Map();
  const tags = createTagReader({
    shown: () => reader.shown,
    store: {
      ...store,
      async glance() {
        store.announced = announced;
        const glance = await store.glance();
        // The documents that a search sees if it begins now.
        seen = new Map(sets.get(reader.set));
        return glance;
      },
    },
  });

  const valueAt = (name: Name, upTo: bigint) =>
    log.findLast((one) => one.position <= upTo && one.names.includes(name))?.position;

  function startWriter(mine: number, set: string): Writer {
    const stopping = new AbortController();
    const gated = async <Result>(work: () => Promise<Result>): Promise<Result> => {
      await writer.paused?.promise;
      const result = await work();
      await writer.paused?.promise;
      return result;
    };
    const gatedStore: Pick<ChangedTagsStore, 'glance' | 'latest' | 'replace'> = {
      glance: () => gated(store.glance),
      latest: () => gated(store.latest),
      replace: (version, state) => gated(() => store.replace(version, state)),
    };
    const writer: Writer = {
      term: createTagTerm({
        store: gatedStore,
        epoch: mine,
        isNewest: (asked) => gated(async () => epoch <= asked),
        position: () => writer.applied,
        signal: stopping.signal,
        report: { info() {}, warn() {}, error() {} },
      }),
      stopping,
      set,
      mayWrite: false,
      applied: position,
      complete: 0n,
      paused: undefined,
    };
    return writer;
  }

  /** Writes all documents in their state in the writer's graph. */
  async function send(writer: Writer, into: readonly string[]): Promise<void> {
    const upTo = writer.applied;
    await writer.term.written(upTo);
    if (writer.stopping.signal.aborted) return;
    sending++;
    await writer.paused?.promise;
    sending--;
    for (const name of NAMES) for (const set of into) put(writer, set, { name, value: valueAt(name, upTo) });
    if (upTo > writer.complete) writer.complete = upTo;
  }

  /** Stores a document. An earlier state never replaces a later one. */
  function put(
    { term }: Writer,
    set: string,
    { name, value = 0n }: { readonly name: Name; readonly value: bigint | undefined },
  ): void {
    const documents = sets.get(set);
    if ((documents?.get(name) ?? 0n) >= value) return;
    if (refused.has(name)) void term.cease(set);
    else documents?.set(name, value);
  }

  /** Makes another process leader, in the order of steps of `leadDocuments`. */
  async function takeOver(notes: boolean, rebuilds: boolean): Promise<void> {
    epoch++;
    position++;
    const before = live;
    const set = rebuilds ? `set ${epoch}` : live;
    const writer = startWriter(epoch, set);
    writers.push(writer);
    if (!(await writer.term.begin())) return;
    writer.mayWrite = true;
    if (rebuilds) {
      sets.set(set, new Map());
      await send(writer, [set, before]);
      // Only the leader with the newest claim may move aliases.
      if (writer !== writers.at(-1)) return;
      live = set;
    }
    const hasRefused = [...NAMES].some(
      (name) => refused.has(name) && (sets.get(set)?.get(name) ?? 0n) < (valueAt(name, writer.applied) ?? 0n),
    );
    if (hasRefused) await writer.term.cease(set);
    else if (notes) await writer.term.open(set);
  }

  const announce = (complete: bigint) => {
    if (complete > (announced ?? 0n)) announced = complete;
  };

  function look(): number {
    let unchanged = 0;
    const term = tags.term(reader.epoch, reader.set);
    for (const answer of reader.answers) {
      if (answer.term !== term || !tags.isUnchanged([answer.name], answer.position)) continue;
      unchanged++;
      const now = seen.get(answer.name);
      if (now !== answer.shows)
        throw new Error(`${answer.name} shows ${now}, not ${answer.shows} as at ${answer.position}`);
    }
    return unchanged;
  }

  /** Lets a current or former leader take a step. */
  function actAs(kind: WriterStep['kind'], writer: Writer): void {
    switch (kind) {
      case 'apply': {
        const next = log.find((one) => one.position > writer.applied);
        if (next === undefined) return;
        writer.applied = next.position;
        writer.term.note(next.position, next.names);
        return;
      }
      case 'send':
        if (writer.mayWrite) void send(writer, [writer.set]).catch(() => {});
        return;
      case 'announce':
        if (writer.set === live) announce(writer.complete);
        return;
      case 'pause':
        writer.paused = Promise.withResolvers();
        return;
      case 'continue':
        writer.paused?.resolve();
        writer.paused = undefined;
        return;
      case 'stop':
        writer.stopping.abort();
    }
  }

  async function read(step: ReaderStep): Promise<void> {
    switch (step.kind) {
      case 'hear claim':
        reader.epoch = epoch;
        return;
      case 'read progress':
        reader.shown = announced ?? 0n;
        reader.set = live;
        return;
      case 'answer': {
        const term = tags.term(reader.epoch, reader.set);
        const shows = sets.get(reader.set)?.get(step.name);
        if (term !== undefined) reader.answers.push({ name: step.name, shows, position: reader.shown, term });
        return;
      }
      case 'look':
        await tags.look();
    }
  }

  function disturb(kind: 'delete' | 'snapshot' | 'restore'): void {
    if (kind === 'delete') store.remove();
    else if (kind === 'snapshot') restore = store.snapshot();
    else if (sending === 0) {
      // Restoring a snapshot takes seconds. By then no documents are in flight, the shown position is announced, and claims are known.
      for (const { set, complete } of writers) if (set === live) announce(complete);
      reader.epoch = epoch;
      restore();
    }
  }

  function act(step: Step): Promise<void> | void {
    switch (step.kind) {
      case 'edit':
        position++;
        log.push({ position, names: step.names });
        return;
      case 'take over':
        void takeOver(step.notes, step.rebuilds).catch(() => {});
        return;
      case 'fail':
        return store.fail(step.when);
      case 'refuse':
        return void refused.add(step.name);
      case 'accept':
        return void refused.delete(step.name);
      case 'delete':
      case 'snapshot':
      case 'restore':
        return disturb(step.kind);
      case 'hear claim':
      case 'read progress':
      case 'look':
      case 'answer':
        return read(step);
      default: {
        const among = writers.filter(({ paused }) => (paused === undefined) !== (step.kind === 'continue'));
        const writer = among.at(-1 - (step.who % Math.max(1, among.length)));
        if (writer !== undefined) actAs(step.kind, writer);
      }
    }
  }
  return {
    async take(step) {
      await act(step);
      const unchanged = step.kind === 'look' ? look() : 0;
      await turn();
      return unchanged;
    },
    end() {
      for (const { stopping } of writers) stopping.abort();
    },
  };
}
