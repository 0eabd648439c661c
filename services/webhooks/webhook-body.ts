import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import { documentStream } from '../../shared/document/stream-name.ts';
import { valueAt } from '../../shared/map-values.ts';
import type { ReadIndex, RowVersion, World } from '../../shared/read-index/read-index.ts';
import { RequestError } from '../../shared/request-error.ts';
import { type ContentType, FILE_TYPE } from '../../shared/schema/content-type.ts';
import { contentTypeOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { type DocumentAction, isErasure, type TouchedRow } from '../history/document-actions.ts';
import { type PastDocument, type PastOptions, type PastRow, readDocumentAt } from '../history/document-at.ts';
import { answerEntry } from '../query/answer-entry.ts';
import { planEntry, type RequestRules } from '../query/plan-query.ts';
import type { WebhookLimits } from './webhook-limits.ts';

export type BodyOptions = PastOptions & {
  readonly graph: Pick<ContentGraph, 'recorded' | 'reader' | 'changesBetween' | 'hasJournal'>;
  readonly index: ReadIndex;
  readonly defaultLocale: string;
  readonly rules: RequestRules;
  readonly limits: Pick<WebhookLimits, 'maxRelated'>;
};

type Entry = Readonly<Record<string, unknown>>;

/** One row of a document that a body shows. */
type ShownRow = { readonly locale: string | null; readonly version: RowVersion };

/** Additional members of a body. */
export type BodyMarks = {
  readonly replayed?: true;
  readonly cause?: Entry;
  /** Too many documents are linked with the changed document to name them. */
  readonly relatedOmitted?: true;
};

/** Writes the bodies of an action, one for each populate. Reads must show the action. */
export function createBodyWriter(options: BodyOptions, action: DocumentAction, marks: BodyMarks = {}) {
  const written = new Map<string, Promise<string>>();
  let past: Promise<PastDocument> | undefined;
  const readPast = () => {
    past ??= readDocumentAt(options, { ...action, revision: revisionShown(action) });
    return past;
  };
  const write = async (populate: string): Promise<string> => {
    const rows = await rowsOf(action, readPast);
    // The events of a related change are those of another document.
    const isErased = action.event !== 'entry.related-change' && isErasure(action.events[0]);
    const shown = isErased ? undefined : preferred(rows, options.defaultLocale);
    const entry =
      shown === undefined ? undefined : await readEntry(options, action, { shown, populate, readPast });
    return JSON.stringify(bodyOf(options.registry, action, { rows, entry, marks }));
  };
  return (populate: string): Promise<string> => valueAt(written, populate, () => write(populate));
}

/** After a removal the body shows the rows before it. */
function revisionShown({ removes, events: [first, ...others] }: DocumentAction): bigint {
  return removes ? first.revision - 1n : (others.at(-1) ?? first).revision;
}

async function rowsOf(
  action: DocumentAction,
  readPast: () => Promise<PastDocument>,
): Promise<readonly ShownRow[]> {
  const isWhole = (row: TouchedRow): row is ShownRow => row.version !== 'all';
  if (action.rows.every(isWhole)) return action.rows;
  const locales = new Set(action.rows.map(({ locale }) => locale));
  const { rows } = await readPast();
  return rows.filter(({ locale }) => locales.has(locale));
}

/** Returns a published row if there is one, in the default locale if possible. */
function preferred(rows: readonly ShownRow[], defaultLocale: string): ShownRow | undefined {
  const published = rows.filter(({ version }) => version !== 'draft');
  const candidates = published.length > 0 ? published : rows;
  return candidates.find(({ locale }) => locale === defaultLocale) ?? candidates[0];
}

type EntryRead = Pick<RowQuery, 'shown' | 'populate'> & { readonly readPast: () => Promise<PastDocument> };

async function readEntry(
  options: BodyOptions,
  action: DocumentAction,
  { shown, populate, readPast }: EntryRead,
): Promise<Entry | undefined> {
  const { type, documentId } = action;
  const of = { type: contentTypeOf(options.registry, type), documentId, shown, populate };
  const current = action.removes ? undefined : await answerRow(options, options.index, of);
  // The events belong to another document, so this document is shown as it is now.
  if (action.event === 'entry.related-change') return current;
  if (current !== undefined && !(await changedSince(options, action, shown))) return current;
  const { rows, index } = await readPast();
  const row = rows.find(({ locale, version }) => locale === shown.locale && version === shown.version);
  if (row === undefined) return current;
  const id = options.graph.recorded.newestId({ type, documentId, ...shown });
  if (action.removes) return withId(row.values, id);
  const own = (await answerRow(options, index, of)) ?? row.values;
  return withId({ ...own, ...relationsOf(of.type, current) }, current?.['id'] ?? id);
}

function withId(values: PastRow['values'], id: unknown): Entry {
  return id === undefined ? values : { ...values, id };
}

/** Reads relations as they are now. Past relations are not known. */
function relationsOf({ attributes }: ContentType, current: Entry | undefined): Entry {
  const entries = Object.entries(current ?? {});
  return Object.fromEntries(entries.filter(([name]) => attributes.get(name)?.kind === 'relation'));
}

/** Returns the world of a row. The rows of a type without draft & publish are published. */
function worldOf({ version }: ShownRow): World {
  return version === 'draft' ? 'draft' : 'published';
}

type RowQuery = {
  readonly type: ContentType;
  readonly documentId: string;
  readonly shown: ShownRow;
  readonly populate: string;
};

async function answerRow(
  { registry, defaultLocale, rules }: BodyOptions,
  index: ReadIndex,
  { type, documentId, shown, populate }: RowQuery,
): Promise<Entry | undefined> {
  const status = worldOf(shown);
  const locale = shown.locale === null ? [] : [`locale=${encodeURIComponent(shown.locale)}`];
  const planWith = (...more: readonly string[]) => {
    const queryString = [`status=${status}`, ...locale, ...more].join('&');
    return planEntry({ registry, type, queryString, defaultLocale, ...rules });
  };
  /** If the type lacks an attribute that the hook populates, the body has no relations: no hook may stop the others. */
  const planned = () => {
    try {
      return planWith(populate);
    } catch (error) {
      if (error instanceof RequestError) return planWith();
      throw error;
    }
  };
  const body = await answerEntry(index, planned(), documentId, { isOwed: true });
  return body === null ? undefined : (JSON.parse(body.toString()) as { readonly data: Entry }).data;
}

/** Returns whether a later event of the document wrote the row. Then a read no longer shows what the action wrote. */
async function changedSince(options: BodyOptions, action: DocumentAction, shown: ShownRow): Promise<boolean> {
  const { events, space, graph } = options;
  const last = action.events.at(-1)?.revision ?? 0n;
  const stream = documentStream(space, action.type, action.documentId);
  const status = worldOf(shown);
  for await (const { position } of events.stream(stream, last + 1n)) {
    // Without a journal the row is read as it was, which costs more and is right, too.
    if (!graph.hasJournal()) return true;
    const rows = graph.changesBetween(position - 1n, position);
    if (rows.some((row) => row.locale === shown.locale && row.status === status)) return true;
  }
  return false;
}

type Shown = {
  readonly rows: readonly ShownRow[];
  readonly entry: Entry | undefined;
  readonly marks: BodyMarks;
};

/** Writes the members in Strapi's order. Members that Strapi does not have come last. */
function bodyOf(registry: SchemaRegistry, action: DocumentAction, { rows, entry, marks }: Shown): Entry {
  const { event, type } = action;
  const createdAt = action.events[0].metadata.at;
  const locales = [...new Set(rows.flatMap(({ locale }) => locale ?? []))].sort();
  const versions = [...new Set(rows.map(({ version }) => version))].sort();
  const shown = entry ?? { documentId: action.documentId };
  if (type === FILE_TYPE) return { event, createdAt, media: shown, ...marks };
  const { singularName, uid } = contentTypeOf(registry, type);
  return { event, createdAt, model: singularName, uid, entry: shown, locales, versions, ...marks };
}
