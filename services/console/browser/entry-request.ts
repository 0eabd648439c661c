import { type Meta, messageOf, type Request, send } from './api.ts';
import { componentNamed, pathName, titleName } from './content-model.ts';
import type { Attributes } from './form-values.ts';
import type { Type } from './server.ts';
import { types } from './session.ts';

/** An entry: its document, and its locale if the type has locales. A single type and a new entry have no documentId. */
export type EntryPlace = {
  readonly type: Type;
  readonly documentId: string | undefined;
  readonly locale: string | null;
};

export type Row = Readonly<Record<string, unknown>>;
type Pair = readonly [name: string, value: string];

/** Components nest at most so deep in a request. */
const MOST_LEVELS = 8;

/** Returns the path of an entry in the API, with what follows it, such as `/versions`. */
export function entryPath({ type, documentId }: EntryPlace, rest = '', query: readonly Pair[] = []): string {
  const id = documentId === undefined ? '' : `/${encodeURIComponent(documentId)}`;
  const text = query.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
  return `/api/${pathName(type)}${id}${rest}${text === '' ? '' : `?${text}`}`;
}

/** Returns the parameters that choose the row of a place: its locale and its world. */
export function rowQuery({ type, locale }: EntryPlace, status?: 'draft' | 'published'): readonly Pair[] {
  return [
    ...(status !== undefined && type.schema.draftAndPublish ? [['status', status] as const] : []),
    ...(locale === null ? [] : [['locale', locale] as const]),
  ];
}

/** Returns the parameters that populate everything in an entry: components at any depth, and the names of linked entries. */
export function populateAll(attributes: Attributes, base = 'populate', level = 0): readonly Pair[] {
  if (level > MOST_LEVELS) return [];
  return Object.entries(attributes).flatMap(([name, attribute]) => {
    const at = `${base}[${name}]`;
    if (attribute.isHidden) return [];
    if (attribute.type === 'media') return [[at, 'true'] as const];
    if (attribute.type === 'relation') return populateLink(attribute.target ?? '', at);
    if (attribute.type === 'component') return populatePart(attribute.component ?? '', at, level);
    if (attribute.type !== 'dynamiczone') return [];
    return (attribute.components ?? []).flatMap((uid) => populatePart(uid, `${at}[on][${uid}]`, level));
  });
}

function populatePart(uid: string, at: string, level: number): readonly Pair[] {
  const inside = populateAll(componentNamed(uid), `${at}[populate]`, level + 1);
  return inside.length === 0 ? [[at, 'true']] : inside;
}

function populateLink(target: string, at: string): readonly Pair[] {
  const type = types.value.find(({ uid }) => uid === target);
  const name = type === undefined ? undefined : titleName(type);
  return [[`${at}[fields][0]`, name ?? 'documentId']];
}

/** A write that the server refused: its message, and the messages of fields by their paths, such as `hours.0.opens`. */
export type WriteRefusal = { readonly message: string; readonly fields: readonly FieldError[] };
export type FieldError = { readonly path: string; readonly message: string };

export type Written = { readonly data: Row; readonly meta: Meta; readonly isShown: boolean };

/** Sends a write. Resolves with the refusal instead of rejecting. */
export async function write(request: Request): Promise<Written | { readonly refusal: WriteRefusal }> {
  try {
    const answer = await send(request);
    if (!answer.ok) return { refusal: { message: messageOf(answer), fields: fieldErrors(answer.json) } };
    const { data = {}, meta = {} } = (answer.json ?? {}) as { readonly data?: Row; readonly meta?: Meta };
    return { data, meta, isShown: answer.status !== 202 };
  } catch (error) {
    return {
      refusal: {
        message: `The server does not answer: ${(error as Error).message}. Nothing tells whether it has stored the write.`,
        fields: [],
      },
    };
  }
}

function fieldErrors(json: unknown): readonly FieldError[] {
  const { error } = (json ?? {}) as { readonly error?: { readonly details?: { readonly errors?: unknown } } };
  const errors = error?.details?.errors;
  if (!Array.isArray(errors)) return [];
  return errors.map(({ path, message }: { readonly path?: unknown; readonly message?: unknown }) => ({
    path: [path ?? '']
      .flat()
      .join('.')
      .replaceAll(/\[(\w+)\]/g, '.$1'),
    message: String(message),
  }));
}
