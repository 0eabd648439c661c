import { useEffect, useRef, useState } from 'preact/hooks';
import type { Request } from './api.ts';
import { callerRights, mayDo, pathName } from './content-model.ts';
import { type Draft, type OtherSave, otherSave, readDraft } from './entry-draft.ts';
import {
  type EntryPlace,
  entryPath,
  type FieldError,
  rowQuery,
  type WriteRefusal,
  write,
} from './entry-request.ts';
import { Field } from './field.ts';
import { fieldId } from './field-parts.ts';
import { changedInput, type FieldValue, formValues } from './form-values.ts';
import { formatTime } from './format.ts';
import { HowToSend } from './how-to-send.ts';
import { html } from './html.ts';
import { asOf, linkTo } from './route.ts';
import { valueProblems } from './value-problems.ts';

/** Milliseconds between two looks whether somebody else has saved. */
const LOOK_MS = 10_000;

/** Edits an entry, or creates one, by a form made from its type. */
export function EntryForm({ place }: { readonly place: EntryPlace }) {
  const [draft, setDraft] = useState<Draft>();
  const [problem, setProblem] = useState('');
  const [notice, setNotice] = useState('');
  const [version, setVersion] = useState(0);
  useEffect(() => {
    let isWanted = true;
    readDraft(place).then(
      (found) => {
        if (!isWanted) return;
        setDraft(found);
        setVersion((before) => before + 1);
      },
      (error: Error) => isWanted && setProblem(error.message),
    );
    return () => {
      isWanted = false;
    };
  }, [place.documentId, place.locale]);
  const reload = async (words: string) => {
    setNotice(words);
    setDraft(await readDraft(place));
    setVersion((before) => before + 1);
  };
  if (problem !== '') return html`<p class="bad" role="alert">${problem}</p>`;
  if (draft === undefined) return html`<p class="quiet" role="status">Loading…</p>`;
  if (asOf() !== undefined) return html`<p class="empty">Nothing can be changed in the past.</p>`;
  if (!mayWrite(place))
    return html`<p class="empty">Your token may not ${place.documentId === undefined ? 'create' : 'change'} entries of this type.</p>`;
  return html`<${Editor} key=${version} place=${place} draft=${draft} notice=${notice} reload=${reload} />`;
}

function mayWrite({ type, documentId }: EntryPlace): boolean {
  return mayDo(type, documentId === undefined && type.schema.kind === 'collectionType' ? 'create' : 'update');
}

type EditorProps = {
  readonly place: EntryPlace;
  readonly draft: Draft;
  readonly notice: string;
  readonly reload: (words: string) => Promise<void>;
};

const NONE: WriteRefusal = { message: '', fields: [] };

function Editor({ place, draft, notice, reload }: EditorProps) {
  const { attributes, row } = draft;
  const [initial] = useState(() => formValues(attributes, row));
  const [values, setValues] = useState(initial);
  const [refusal, setRefusal] = useState(NONE);
  const [other, setOther] = useState<OtherSave>();
  const [isSaving, setSaving] = useState(false);
  const data = changedInput(attributes, initial, values);
  const count = Object.keys(data).length;
  useLook(place, draft, setOther);
  useUnsaved(count > 0);
  const save = async (publishes: boolean, anyway = false) => {
    const fields = valueProblems(attributes, values);
    setRefusal(fields.length === 0 ? NONE : { message: 'Correct these values first.', fields });
    if (fields.length > 0 || isSaving) return;
    setSaving(true);
    const found = anyway ? undefined : await otherSave(place, draft).catch(() => undefined);
    setOther(found);
    if (found === undefined) await send(publishes);
    setSaving(false);
  };
  const send = async (publishes: boolean) => {
    const result = await write(saveRequest(place, data, publishes));
    if ('refusal' in result) return setRefusal(result.refusal);
    const words = `${publishes ? 'Published' : 'Saved'} at ${formatTime(Date.now())}.${result.isShown ? '' : ' Reads do not show it yet.'}`;
    if (place.documentId === undefined && place.type.schema.kind === 'collectionType')
      location.hash = linkTo(['content', pathName(place.type), String(result.data['documentId']), 'edit'], {
        locale: place.locale ?? undefined,
      });
    else await reload(words);
  };
  return html`<form class="form" onSubmit=${(event: Event) => {
    event.preventDefault();
    void save(false);
  }}>
    <${Bar} place=${place} count=${count} isSaving=${isSaving} notice=${notice} publish=${() => void save(true)} />
    ${other !== undefined && html`<${Others} other=${other} mine=${Object.keys(data)} keep=${(publishes: boolean) => void save(publishes, true)} place=${place} load=${() => void reload('These are their values.')} />`}
    <${Refused} refusal=${refusal} />
    ${Object.entries(attributes).map(
      ([
        name,
        attribute,
      ]) => html`<${Field} key=${name} name=${name} path=${name} attribute=${attribute} value=${values[name] ?? ''} siblings=${values}
      change=${(value: FieldValue) => setValues((before) => ({ ...before, [name]: value }))} errors=${refusal.fields} locale=${place.locale} />`,
    )}
    <${HowToSend} request=${saveRequest(place, data, false)} />
  </form>`;
}

function useLook(place: EntryPlace, draft: Draft, found: (other: OtherSave | undefined) => void): void {
  useEffect(() => {
    const timer = setInterval(() => {
      // Without an answer the next look tells.
      if (document.visibilityState !== 'hidden') otherSave(place, draft).then(found, () => {});
    }, LOOK_MS);
    return () => clearInterval(timer);
  }, []);
}

/** Lets the browser ask before a page with unsaved changes is closed. */
function useUnsaved(isUnsaved: boolean): void {
  useEffect(() => {
    if (!isUnsaved) return;
    const ask = (event: Event) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [isUnsaved]);
}

/** Returns the write of a form. Without `status` it also publishes, as in Strapi. */
function saveRequest(place: EntryPlace, data: object, publishes: boolean): Request {
  const isNew = place.documentId === undefined && place.type.schema.kind === 'collectionType';
  return {
    method: isNew ? 'POST' : 'PUT',
    path: entryPath(place, '', rowQuery(place, publishes || !seesDrafts() ? undefined : 'draft')),
    body: { data },
  };
}

function seesDrafts(): boolean {
  return callerRights.value?.drafts === true;
}

type BarProps = {
  readonly place: EntryPlace;
  readonly count: number;
  readonly isSaving: boolean;
  readonly notice: string;
  readonly publish: () => void;
};

function Bar({ place: { type }, count, isSaving, notice, publish }: BarProps) {
  const { draftAndPublish } = type.schema;
  const words = count === 0 ? notice : `${count} changed ${count === 1 ? 'attribute' : 'attributes'}`;
  return html`<div class="row save">
    ${
      (!draftAndPublish || seesDrafts()) &&
      html`<button type="submit" class="primary" disabled=${isSaving}>${draftAndPublish ? 'Save draft' : 'Save'}</button>`
    }
    ${draftAndPublish && html`<button type="button" disabled=${isSaving} onClick=${publish}>Save and publish</button>`}
    <span role="status" class="quiet">${isSaving ? 'Saving…' : words}</span>
  </div>`;
}

type OthersProps = {
  readonly other: OtherSave;
  readonly mine: readonly string[];
  readonly place: EntryPlace;
  readonly keep: (publishes: boolean) => void;
  readonly load: () => void;
};

/** Warns that somebody else has saved since the form was opened. */
function Others({ other: { names, at, by }, mine, place, keep, load }: OthersProps) {
  const both = names.filter((name) => mine.includes(name));
  return html`<div class="notice warn" role="alert">
    <p><strong>Somebody else saved this entry</strong>${at === undefined ? '' : ` at ${formatTime(at)}`}${by === undefined ? '' : ` (${by})`}. They changed ${names.join(', ')}.${' '}
      ${both.length > 0 ? `You changed ${both.join(', ')} too: a save replaces their value.` : 'A save keeps their values.'}</p>
    <p class="row"><button type="button" onClick=${() => keep(place.type.schema.draftAndPublish && !seesDrafts())}>Save mine anyway</button>
      <button type="button" onClick=${load}>Load theirs, and drop mine</button></p>
  </div>`;
}

/** Says why a save was refused, with a link to each field. */
function Refused({ refusal: { message, fields } }: { readonly refusal: WriteRefusal }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (message !== '') box.current?.focus();
  }, [message, fields]);
  if (message === '') return null;
  return html`<div class="notice wrong" role="alert" tabindex="-1" ref=${box}>
    <p><strong>${message}</strong></p>
    ${
      fields.length > 0 &&
      html`<ul class="links">${fields.map(
        (error) =>
          html`<li><button type="button" class="plain" onClick=${() => focusField(error)}>${error.path}</button> ${error.message}</li>`,
      )}</ul>`
    }
  </div>`;
}

/** Focuses the field of an error, or the nearest one around it. */
function focusField({ path }: FieldError): void {
  const parts = path.split('.');
  const ids = parts.map((_, i) => fieldId(parts.slice(0, parts.length - i).join('.')));
  ids
    .map((id) => document.getElementById(id))
    .find((element) => element !== null)
    ?.focus();
}
