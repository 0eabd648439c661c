import { messageOf, read, send } from './api.ts';
import { callerRights, isLocalized, writtenAttributes } from './content-model.ts';
import { type EntryPlace, entryPath, populateAll, type Row, rowQuery } from './entry-request.ts';
import { type Attributes, changedInput, formValues } from './form-values.ts';
import type { Type } from './server.ts';

/** The row that a form edits. `row` is absent if the entry, or its locale, does not exist yet. */
export type Draft = { readonly row: Row | undefined; readonly attributes: Attributes };

/** Reads the row that a form edits: the draft, or what is published if the caller may not see drafts. Rejects if the server refuses. */
export async function readDraft(place: EntryPlace): Promise<Draft> {
  const { type, documentId } = place;
  if (documentId === undefined && type.schema.kind !== 'singleType')
    return { row: undefined, attributes: writtenAttributes(type) };
  const answer = await send({ method: 'GET', path: draftPath(place) });
  if (answer.ok) return { row: (answer.json as { data: Row }).data, attributes: writtenAttributes(type) };
  if (answer.status !== 404) throw new Error(messageOf(answer));
  const isOtherLocale = documentId !== undefined && isLocalized(type);
  return { row: undefined, attributes: isOtherLocale ? ownOfLocale(type) : writtenAttributes(type) };
}

function draftPath(place: EntryPlace): string {
  const status = callerRights.value?.drafts === true ? 'draft' : undefined;
  return entryPath(place, '', [...rowQuery(place, status), ...populateAll(place.type.schema.attributes)]);
}

/** A new locale takes the values that all locales share from the others. */
function ownOfLocale(type: Type): Attributes {
  return Object.fromEntries(
    Object.entries(writtenAttributes(type)).filter(
      ([, { pluginOptions }]) => pluginOptions?.i18n?.localized === true,
    ),
  );
}

/** A save by somebody else: the attributes that it changed, when, and its author if the caller may see the history. */
export type OtherSave = {
  readonly names: readonly string[];
  readonly at: string | undefined;
  readonly by: string | undefined;
};

/** Compares the row that a form began with, with the stored one. Resolves with undefined if nothing has changed. */
export async function otherSave(
  place: EntryPlace,
  { row, attributes }: Draft,
): Promise<OtherSave | undefined> {
  if (row === undefined) return undefined;
  const { data } = await read<Row>(draftPath(place));
  const [before, now] = [formValues(attributes, row), formValues(attributes, data)];
  const names = Object.keys(changedInput(attributes, before, now));
  if (names.length === 0) return undefined;
  const at = data['updatedAt'];
  return { names, at: typeof at === 'string' ? at : undefined, by: await lastAuthor(place) };
}

async function lastAuthor(place: EntryPlace): Promise<string | undefined> {
  if (callerRights.value?.history !== true) return undefined;
  try {
    const path = entryPath(place, '/versions', [...rowQuery(place), ['pagination[pageSize]', '1']]);
    const { data } = await read<readonly { readonly createdBy: { kind: string; name?: string } }[]>(path);
    const author = data[0]?.createdBy;
    return author && [author.kind, author.name].filter(Boolean).join(' ');
  } catch {
    // The warning is there without the name.
    return undefined;
  }
}
