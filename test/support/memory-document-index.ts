import type {
  DocumentIndex,
  IndexableDocument,
  WriteOutcome,
} from '../../shared/read-index/document-index.ts';

/** A document index in memory. Searches see the refreshed documents. Tests can cause failures. */
export type MemoryDocumentIndex = DocumentIndex & {
  /** Documents that searches show, by `<type> <world> <key>`. */
  readonly visible: ReadonlyMap<string, string>;
  /** The names of the documents of every request. */
  readonly requests: readonly (readonly string[])[];
  /**
   * Sets the answers to later requests: an error to throw, or an outcome for a document (undefined if it is written).
   */
  behave(how: {
    readonly fails?: (names: readonly string[]) => Error | undefined;
    /** Returns false if the index of a type and world is too busy. Default: it is if `fails` returns an error for no documents. */
    readonly accepts?: () => boolean;
    readonly outcome?: (name: string, text: string) => WriteOutcome | undefined;
    /** Awaited before a request is answered. */
    readonly before?: (names: readonly string[]) => Promise<void>;
  }): void;
};

type Stored = { readonly position: bigint; readonly text: string | undefined };

/** Creates the index. `shows` returns the text of a row's document, or undefined if the row does not exist. */
export function createMemoryDocumentIndex(
  shows: (
    row: Parameters<DocumentIndex['present']>[0],
    neighbours: Parameters<DocumentIndex['present']>[1],
  ) => string | undefined,
): MemoryDocumentIndex {
  const stored = new Map<string, Stored>();
  const visible = new Map<string, string>();
  const requests: string[][] = [];
  let behaviour: Parameters<MemoryDocumentIndex['behave']>[0] = {};
  /** Makes the documents of these types and worlds visible, or of all. */
  const refresh = (targets?: ReadonlySet<string>) => {
    for (const [name, { text }] of stored) {
      if (targets?.has(targetOf(name)) === false) continue;
      if (text === undefined) visible.delete(name);
      else visible.set(name, text);
    }
  };
  const write = (document: IndexableDocument): WriteOutcome => {
    const name = nameOf(document);
    const text = Buffer.from(document.bytes).toString();
    const ordered = behaviour.outcome?.(name, text);
    if (ordered !== undefined) return ordered;
    const known = stored.get(name);
    // An older version never replaces a newer one, as in Elasticsearch with external versions.
    if (known === undefined || known.position <= document.position) {
      stored.set(name, {
        position: document.position,
        text: text === '' ? undefined : text,
      });
    }
    return { kind: 'written' };
  };
  return {
    visible,
    requests,
    behave(how) {
      behaviour = how;
    },
    present: (row, neighbours) => ({ ...row, bytes: Buffer.from(shows(row, neighbours) ?? '') }),
    async write(documents, options) {
      const names = documents.map(nameOf);
      requests.push(names);
      options.signal?.throwIfAborted();
      await untilAborted(behaviour.before?.(names), options.signal);
      const failure = behaviour.fails?.(names);
      if (failure !== undefined) throw failure;
      const outcomes = documents.map(write);
      if (options.refresh) refresh(new Set(names.map(targetOf)));
      return outcomes;
    },
    accepts: async (_, signal) =>
      !signal.aborted && (behaviour.accepts?.() ?? behaviour.fails?.([]) === undefined),
    release: () => {},
    async refresh(only) {
      refresh(only && new Set([`${only.type} ${only.world}`]));
    },
  };
}

/** Waits for a request. Rejects when the caller abandons it. */
async function untilAborted(
  request: Promise<void> | undefined,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (request === undefined) return;
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(new Error('Request aborted'));
  signal?.addEventListener('abort', abort);
  await Promise.race([request, aborted.promise]).finally(() => signal?.removeEventListener('abort', abort));
}

function nameOf({ type, world, key }: Pick<IndexableDocument, 'type' | 'world' | 'key'>): string {
  return `${type} ${world} ${key}`;
}

/** Returns the type and the world in the name of a document. */
function targetOf(name: string): string {
  return name.slice(0, name.lastIndexOf(' '));
}
