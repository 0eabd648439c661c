import { valueOfJson } from '../../shared/json.ts';
import { isTooDeep } from '../../shared/json-depth.ts';
import type {
  Attribute,
  ContentType,
  ScalarAttribute,
  ScalarType,
} from '../../shared/schema/content-type.ts';
import { hasMilliseconds } from '../../shared/schema/time-form.ts';
import { parseDate, parseDatetime, parseTime } from '../command/scalar-values.ts';
import { type CsvRow, csvRows } from './csv-rows.ts';
import type { ImportSource } from './import-lines.ts';

/** Members of a line that a column may have. An attribute of the same name comes first. */
const MEMBERS = ['key', 'documentId', 'locale', 'state'] as const;
type Member = (typeof MEMBERS)[number];

type Column =
  | { readonly name: string; readonly attribute: ScalarAttribute }
  | { readonly name: Member; readonly attribute: undefined };

/** Returns whether a file is CSV, by its name. */
export function isCsv(file: string): boolean {
  return /\.csv$/i.test(file);
}

/**
 * Yields the rows of a CSV file as lines of the import. Consecutive rows of one document with different locales are one line. An empty cell
 * is an absent value. Throws a message if the header has a column that no row of the type can have.
 */
export async function* csvLines(file: string, type: ContentType): AsyncGenerator<ImportSource> {
  let columns: readonly Column[] | undefined;
  let document: Document | undefined;
  for await (const row of csvRows(file)) {
    if (columns === undefined) {
      columns = columnsOf(file, type, row);
      continue;
    }
    const parsed = parsedRow(columns, row);
    const isMore = document !== undefined && continues(document, parsed);
    if (document !== undefined && !isMore) yield sourceOf(file, type, document);
    document = document !== undefined && isMore ? [...document, parsed] : [parsed];
  }
  if (columns === undefined) throw new Error(`${file} has no header: its first line names the columns`);
  if (document !== undefined) yield sourceOf(file, type, document);
}

function columnsOf(file: string, type: ContentType, { line, cells }: CsvRow): readonly Column[] {
  const problems: string[] = [];
  const columns = cells.flatMap((cell, at) => {
    const name = cell.trim();
    const column = columnOf(type, name);
    if (cells.findIndex((other) => other.trim() === name) < at)
      problems.push(`the column ${name} is there twice`);
    else if (typeof column === 'string') problems.push(column);
    return typeof column === 'string' ? [] : [column];
  });
  if (problems.length === 0) return columns;
  const scalars = [...type.attributes.values()].filter(({ kind }) => kind === 'scalar');
  const accepted = new Set([...MEMBERS, ...scalars.map(({ name }) => name)]);
  const list = `the columns of ${type.uid} are ${[...accepted].join(', ')}`;
  throw new Error(`${file}:${line}: ${problems.join('; ')}; ${list}`);
}

/** Returns the column of a name, or why there is none. */
function columnOf(type: ContentType, name: string): Column | string {
  const attribute = type.attributes.get(name);
  if (attribute?.kind === 'scalar') return { name, attribute };
  if (attribute !== undefined)
    return `${name} is a ${kindOf(attribute)}, which a cell cannot have: write JSON lines`;
  const member = MEMBERS.find((each) => each === name);
  if (member !== undefined) return { name: member, attribute: undefined };
  return /[;\t|]/.test(name)
    ? `the columns ${name} are not separated by commas`
    : `unknown column ${name === '' ? 'without a name' : name}`;
}

function kindOf(attribute: Attribute): string {
  if (attribute.kind !== 'relation') return attribute.kind === 'component' ? 'component' : 'dynamic zone';
  return attribute.media === undefined ? 'relation' : 'media attribute';
}

type ParsedRow = {
  readonly number: number;
  readonly bytes: number;
  readonly problems: readonly string[];
  readonly members: { readonly [name in Member]?: string };
  readonly data: { readonly [name: string]: unknown };
};

function parsedRow(columns: readonly Column[], { line: number, bytes, cells }: CsvRow): ParsedRow {
  if (cells.length !== columns.length) {
    const problem = `the row has ${cells.length} cells, and the header has ${columns.length}`;
    return { number, bytes, problems: [problem], members: {}, data: {} };
  }
  const filled = columns.flatMap((column, at) => (cells[at] ? [{ ...column, cell: cells[at] }] : []));
  const values = filled.flatMap(({ attribute, cell }) => (attribute ? [{ attribute, cell }] : []));
  const members = filled.flatMap(({ name, attribute, cell }) => (attribute ? [] : [[name, cell]]));
  const problems = values.flatMap(({ attribute, cell }) => problemOf(attribute, cell));
  const data = values.map(({ attribute, cell }) => [attribute.name, castCell(attribute, cell)]);
  return {
    number,
    bytes,
    problems,
    members: Object.fromEntries(members),
    data: Object.fromEntries(data),
  };
}

/** Returns what the API refuses without naming the attribute. */
function problemOf(attribute: ScalarAttribute, cell: string): readonly string[] {
  const parse = FORMS[attribute.type];
  const parsed = parse?.(cell, attribute) ?? { value: cell };
  return 'problem' in parsed ? [`${attribute.name}: ${parsed.problem}`] : [];
}

const FORMS: { readonly [type in ScalarType]?: (cell: string, attribute: ScalarAttribute) => Parsed } = {
  date: parseDate,
  datetime: parseDatetime,
  time: (cell, attribute) => parseTime(cell, hasMilliseconds(attribute)),
};
type Parsed = ReturnType<typeof parseDate>;

/** Casts of the API convert a text to the other types, and name a text in blocks. */
function castCell({ type }: ScalarAttribute, cell: string): unknown {
  return type === 'blocks' && !isTooDeep(cell) ? (valueOfJson(cell) ?? cell) : cell;
}

/** Rows of one document. */
type Document = readonly [ParsedRow, ...ParsedRow[]];

/** Returns whether a row has another locale of the document. */
function continues([first, ...others]: Document, { members }: ParsedRow): boolean {
  const { key, documentId, locale } = members;
  if (locale === undefined || (key ?? documentId) === undefined) return false;
  const isSame = first.members.key === key && first.members.documentId === documentId;
  return isSame && [first, ...others].every((row) => ![undefined, locale].includes(row.members.locale));
}

function sourceOf(file: string, type: ContentType, rows: Document): ImportSource {
  const [{ number, members, problems, data }, ...others] = rows;
  const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
  const elsewhere = others.flatMap((row) => row.problems.map((problem) => `line ${row.number}: ${problem}`));
  const reasons = [...problems, ...elsewhere];
  if (reasons.length > 0) return { file, number, bytes, reasons };
  const { locale, state, ...named } = members;
  const content =
    locale === undefined
      ? { state, data }
      : { locales: Object.fromEntries(rows.map((row) => [row.members.locale, variantOf(row)])) };
  return { file, number, bytes, text: JSON.stringify({ type: type.uid, ...named, ...content }) };
}

function variantOf({ members: { state }, data }: ParsedRow) {
  return { state, data };
}
