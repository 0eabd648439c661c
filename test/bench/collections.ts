import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A collection of documents with questions and judgements of which documents answer them. */
export type Collection = {
  readonly name: string;
  readonly documents: readonly Document[];
  readonly queries: readonly Query[];
};

export type Document = { readonly id: string; readonly title: string; readonly body: string };

/** `gains`: by document, how well it answers the question. */
type Query = { readonly id: string; readonly text: string; readonly gains: ReadonlyMap<string, number> };

type Record = { readonly id: string; readonly sections: Map<string, string> };

const RECORD = /^\.I (\d+)/;
const SECTION = /^\.([A-Z])\s*$/;

/** Reads Cranfield: 1,400 abstracts of aerodynamics, rated from 1 (best) to 4; -1 is the worst. Queries are named by their order. */
export function readCranfield(folder: string): Collection {
  const gains = readGains(join(folder, 'cranqrel'), (code) => (code === -1 ? 1 : Math.max(0, 5 - code)));
  const queries = readRecords(join(folder, 'cran.qry')).map((record, at) =>
    query(String(at + 1), record, gains),
  );
  return { name: 'Cranfield', documents: readDocuments(join(folder, 'cran.all.1400')), queries };
}

/** Reads CISI: 1,460 abstracts of library science. 76 of its 112 queries are rated: a document answers or does not. */
export function readCisi(folder: string): Collection {
  const gains = readGains(join(folder, 'CISI.REL'), () => 1);
  const queries = readRecords(join(folder, 'CISI.QRY')).map((record) => query(record.id, record, gains));
  return { name: 'CISI', documents: readDocuments(join(folder, 'CISI.ALL')), queries };
}

function query(id: string, { sections }: Record, gains: ReadonlyMap<string, Query['gains']>): Query {
  const text = ['T', 'W'].map((section) => sections.get(section) ?? '').join('');
  return { id, text, gains: gains.get(id) ?? new Map() };
}

function readDocuments(file: string): readonly Document[] {
  return readRecords(file).map(({ id, sections }) => {
    const [title, text] = [sections.get('T') ?? '', sections.get('W') ?? ''];
    // Abstracts of Cranfield begin with their title.
    return { id, title, body: text.startsWith(title) ? text.slice(title.length) : text };
  });
}

function readRecords(file: string): readonly Record[] {
  const records: Record[] = [];
  let section: string | undefined;
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const [, id] = RECORD.exec(line) ?? [];
    const [, name] = SECTION.exec(line) ?? [];
    const record = records.at(-1);
    if (id !== undefined) records.push({ id, sections: new Map() });
    else if (name !== undefined) section = name;
    else if (record !== undefined && section !== undefined)
      record.sections.set(section, `${record.sections.get(section) ?? ''}${line} `);
    if (id !== undefined) section = undefined;
  }
  return records;
}

function readGains(file: string, gainOf: (code: number) => number): Map<string, Map<string, number>> {
  const gains = new Map<string, Map<string, number>>();
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const [query, document, code] = line.trim().split(/\s+/).map(Number);
    if (!query || document === undefined) continue;
    const ofQuery = gains.get(String(query)) ?? new Map<string, number>();
    gains.set(String(query), ofQuery.set(String(document), gainOf(code ?? 0)));
  }
  return gains;
}

/** Returns the discounted cumulative gain of the first ten documents, as a share of the best order's (nDCG@10). */
export function gainOfTen(found: readonly string[], gains: ReadonlyMap<string, number>): number {
  const discounted = (list: readonly number[]) =>
    list.slice(0, 10).reduce((sum, gain, at) => sum + gain / Math.log2(at + 2), 0);
  const best = discounted([...gains.values()].sort((a, b) => b - a));
  return best === 0 ? 0 : discounted(found.map((id) => gains.get(id) ?? 0)) / best;
}
