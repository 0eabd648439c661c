import { type BlockRow, blockRows } from './block-rows.ts';
import { isSame } from './blocks-text.ts';
import { componentNamed } from './content-model.ts';
import { inputOfScalar, textOfScalar } from './scalar-text.ts';
import type { ShownAttribute } from './server.ts';

export type Attributes = Readonly<Record<string, ShownAttribute>>;
/** A related entry or file, with the words for people. */
export type Linked = {
  readonly documentId: string;
  readonly row: Readonly<Record<string, unknown>>;
};
/** A component in the form. `id` is that of the stored one; absent in a new one. */
export type PartValue = {
  readonly key: number;
  readonly uid: string;
  readonly id?: unknown;
  readonly values: FormValues;
};
export type FieldValue = string | readonly Linked[] | readonly PartValue[] | readonly BlockRow[];
export type FormValues = Readonly<Record<string, FieldValue>>;
type Row = Readonly<Record<string, unknown>>;

let keys = 0;

/** Returns what the form shows of an entry or component. Without a row it shows the defaults of a new one. */
export function formValues(attributes: Attributes, row: Row | undefined): FormValues {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, attribute]) => [
      name,
      fieldValue(attribute, row === undefined ? (attribute.default ?? null) : (row[name] ?? null)),
    ]),
  );
}

function fieldValue(attribute: ShownAttribute, value: unknown): FieldValue {
  switch (attribute.type) {
    case 'relation':
    case 'media':
      return rowsIn(value).map((row) => ({ documentId: String(row['documentId']), row }));
    case 'component':
      return rowsIn(value).map((row) => partOf(attribute.component ?? '', row));
    case 'dynamiczone':
      return rowsIn(value).map((row) => partOf(String(row['__component']), row));
    case 'blocks':
      return blockRows(value);
    default:
      return textOfScalar(attribute, value);
  }
}

function rowsIn(value: unknown): readonly Row[] {
  return value === null || value === undefined ? [] : ([value].flat() as unknown as readonly Row[]);
}

function partOf(uid: string, row: Row): PartValue {
  return { key: keys++, uid, id: row['id'], values: formValues(componentNamed(uid), row) };
}

/** Returns a new component with its defaults. */
export function newPart(uid: string): PartValue {
  return { key: keys++, uid, values: formValues(componentNamed(uid), undefined) };
}

/** Returns whether an attribute has a list of entries, files or components. */
export function isList({ type, relation, multiple, repeatable }: ShownAttribute): boolean {
  if (type === 'relation') return relation === 'oneToMany' || relation === 'manyToMany';
  return type === 'dynamiczone' || multiple === true || repeatable === true;
}

/** Returns the attributes of a write that changed, in the form of the API. */
export function changedInput(attributes: Attributes, before: FormValues, now: FormValues): Row {
  const changed = Object.entries(attributes).flatMap(([name, attribute]) => {
    const [first, last] = [before[name] ?? '', now[name] ?? ''];
    const input = inputOf(attribute, last);
    if (input === undefined || isSame(inputOf(attribute, first), input)) return [];
    return [[name, linkChanges(attribute, first, last) ?? input] as const];
  });
  return Object.fromEntries(changed);
}

/** Returns the value of an attribute for a write; undefined if the write omits it. */
function inputOf(attribute: ShownAttribute, value: FieldValue): unknown {
  // Nobody sees the stored value, so an empty field does not mean that it is removed.
  if (attribute.isHidden === true && value.length === 0) return undefined;
  switch (attribute.type) {
    case 'relation':
    case 'media': {
      const ids = (value as readonly Linked[]).map(({ documentId }) => documentId);
      return isList(attribute) ? ids : (ids[0] ?? null);
    }
    case 'component':
    case 'dynamiczone': {
      const isZone = attribute.type === 'dynamiczone';
      const parts = (value as readonly PartValue[]).map((part) => partInput(part, isZone));
      return isList(attribute) ? parts : (parts[0] ?? null);
    }
    case 'blocks': {
      const nodes = (value as readonly BlockRow[]).map(({ node }) => node);
      return nodes.length === 0 ? null : nodes;
    }
    default:
      return inputOfScalar(attribute, value as string);
  }
}

function partInput({ uid, id, values }: PartValue, isZone: boolean): Row {
  const inputs = Object.entries(componentNamed(uid)).map(
    ([name, attribute]) => [name, inputOf(attribute, values[name] ?? '')] as const,
  );
  return {
    ...(isZone ? { __component: uid } : {}),
    id,
    ...Object.fromEntries(inputs.filter(([, input]) => input !== undefined)),
  };
}

/** Returns added and removed links, so that links that somebody else added meanwhile stay; undefined if others moved. */
function linkChanges(attribute: ShownAttribute, before: FieldValue, now: FieldValue): object | undefined {
  if (!['relation', 'media'].includes(attribute.type) || !isList(attribute)) return undefined;
  const [first, last] = [before, now].map((value) =>
    (value as readonly Linked[]).map(({ documentId }) => documentId),
  ) as [string[], string[]];
  const kept = first.filter((id) => last.includes(id));
  if (!isSame(kept, last.slice(0, kept.length))) return undefined;
  return { connect: last.slice(kept.length), disconnect: first.filter((id) => !last.includes(id)) };
}
