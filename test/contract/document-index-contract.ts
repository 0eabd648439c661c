import { describe, expect, it, onTestFinished } from 'vitest';
import type {
  DocumentIndex,
  DocumentRow,
  IndexableDocument,
  Neighbours,
} from '../../shared/read-index/document-index.ts';
import type { IndexedRow } from '../../shared/read-index/read-index.ts';

/** An empty index of documents of one type, and what searches of it show. */
export type OpenedDocumentIndex = {
  readonly index: DocumentIndex;
  /** Returns the answer of each document that searches of published rows find, by key. */
  found(): Promise<Readonly<Record<string, unknown>>>;
  /** Makes the index refuse everything that is sent to it, until the returned function is called. */
  block(): Promise<() => Promise<void>>;
  /** Makes the index refuse documents whose `size` is not a number, if it does not do so by itself. */
  refuseWrongSizes(): void;
  close(): Promise<void>;
};

export const NOTE = 'api::note.note';
const PUBLISHED = 'published';
const REFRESH = { refresh: true } as const;
const NEVER = new AbortController().signal;

function rowOf(key: number, name: string, size: unknown): IndexedRow {
  const shown = { id: key, documentId: `d${key}`, name, size };
  return {
    source: Buffer.from(JSON.stringify(shown)),
    fields: shown as IndexedRow['fields'],
    components: {},
  };
}

/** Tests that every adapter of the `DocumentIndex` port passes. */
export function describeDocumentIndexContract(name: string, open: () => Promise<OpenedDocumentIndex>): void {
  describe(`document index contract: ${name}`, () => {
    const opened = async () => {
      const target = await open();
      onTestFinished(target.close);
      /** Makes the document of a row; without a name, its removal. */
      const make = (key: number, position: bigint, named?: string, size: unknown = 1): IndexableDocument => {
        const row: DocumentRow = { type: NOTE, world: PUBLISHED, key, position };
        const neighbours: Neighbours = {
          row: (_, wanted) => (wanted === key && named !== undefined ? rowOf(key, named, size) : undefined),
          linked: () => [],
        };
        return target.index.present(row, neighbours);
      };
      const write = async (documents: readonly IndexableDocument[], refresh = true) => {
        const outcomes = await target.index.write(documents, { refresh });
        target.index.release(documents);
        return outcomes.map(({ kind }) => kind);
      };
      const names = async () =>
        Object.fromEntries(
          Object.entries(await target.found()).map(([key, row]) => [key, (row as { name: string }).name]),
        );
      return { ...target, make, write, names };
    };

    it('shows written documents after a refresh, of the request or of its own', async () => {
      const { index, make, write, names } = await opened();
      expect(await write([make(4, 1n, 'one'), make(8, 1n, 'two')])).toEqual(['written', 'written']);
      expect(await names()).toEqual({ 4: 'one', 8: 'two' });
      expect(await write([make(12, 2n, 'three')], false)).toEqual(['written']);
      expect(await names()).toEqual({ 4: 'one', 8: 'two' });
      await index.refresh();
      expect(await names()).toEqual({ 4: 'one', 8: 'two', 12: 'three' });
    });

    it('never replaces a newer state by an older one, and accepts the same state twice', async () => {
      const { make, write, names } = await opened();
      await write([make(4, 5n, 'new'), make(8, 5n)]);
      expect(await write([make(4, 3n, 'old'), make(8, 3n, 'gone')])).toEqual(['written', 'written']);
      expect(await names()).toEqual({ 4: 'new' });
      expect(await write([make(4, 5n, 'new')])).toEqual(['written']);
      expect(await write([make(4, 6n, 'newest')])).toEqual(['written']);
      expect(await names()).toEqual({ 4: 'newest' });
    });

    it('removes documents, also those that it never had', async () => {
      const { make, write, names } = await opened();
      await write([make(4, 1n, 'one')]);
      expect(await write([make(4, 2n), make(8, 2n)])).toEqual(['written', 'written']);
      expect(await names()).toEqual({});
    });

    it('writes the other documents of a request if it refuses one, with the reason', async () => {
      const { index, make, names, refuseWrongSizes } = await opened();
      refuseWrongSizes();
      const documents = [make(4, 1n, 'one'), make(8, 1n, 'wrong', 'not a number'), make(12, 1n, 'three')];
      const outcomes = await index.write(documents, REFRESH);
      expect(outcomes.map(({ kind }) => kind)).toEqual(['written', 'refused', 'written']);
      expect(outcomes[1]).toMatchObject({ reason: expect.stringMatching(/size/) });
      expect(await names()).toEqual({ 4: 'one', 12: 'three' });
    });

    it('says whether it accepts documents, and leaves no trace of the question', async () => {
      const { index, make, write, names, block } = await opened();
      await write([make(4, 1n, 'one')]);
      expect(await index.accepts({ type: NOTE, world: PUBLISHED }, NEVER)).toBe(true);
      const unblock = await block();
      expect(await index.accepts({ type: NOTE, world: PUBLISHED }, NEVER)).toBe(false);
      await unblock();
      expect(await index.accepts({ type: NOTE, world: PUBLISHED }, NEVER)).toBe(true);
      await index.refresh();
      expect(await names()).toEqual({ 4: 'one' });
    });

    it('does not say that it accepts documents if the question was abandoned', async () => {
      const { index } = await opened();
      expect(await index.accepts({ type: NOTE, world: PUBLISHED }, AbortSignal.abort())).toBe(false);
    });

    it('reports a document that it cannot write now, or rejects the request, but never refuses it for good', async () => {
      const { index, make, write, names, block } = await opened();
      const unblock = await block();
      const document = make(4, 1n, 'one');
      const outcomes = await index.write([document], REFRESH).catch((error: Error) => error);
      if (!(outcomes instanceof Error)) expect(outcomes.map(({ kind }) => kind)).toEqual(['again']);
      await unblock();
      expect(await write([document])).toEqual(['written']);
      expect(await names()).toEqual({ 4: 'one' });
    });

    it('rejects an abandoned request', async () => {
      const { index, make } = await opened();
      const options = { refresh: false, signal: AbortSignal.abort() };
      await expect(index.write([make(4, 1n, 'one')], options)).rejects.toThrow();
    });
  });
}
