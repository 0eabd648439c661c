import { useEffect, useState } from 'preact/hooks';
import { ActionButton, type Outcome } from './action.ts';
import { contentTypes, isLocalized, pathName, titleOf } from './content-model.ts';
import type { Row } from './entry-request.ts';
import { shorten } from './format.ts';
import { html } from './html.ts';
import { Pager } from './pager.ts';
import { findEntries } from './relation-field.ts';
import { linkTo, route } from './route.ts';
import { shellWord } from './send-lines.ts';
import type { ListedReleaseAction, Type } from './server.ts';
import { types } from './session.ts';
import { useAnswer } from './use-answer.ts';

type Report = (outcome: Outcome) => void;
type TableProps = { readonly id: number; readonly isPending: boolean; readonly report: Report };
type Groups = Readonly<Record<string, readonly ListedReleaseAction[]>>;

const PAGE_SIZE = 100;

/** Entries of a release: what happens to each, and why it would be refused. */
export function EntriesTable({ id, isPending, report }: TableProps) {
  const page = Number(route.value.query.get('page') ?? 1);
  const path = `/_varve/releases/${id}/actions?groupBy=contentType&pageSize=${PAGE_SIZE}&page=${page}`;
  const { data: groups, meta, problem } = useAnswer<Groups>(path);
  if (problem !== null) return html`<p class="bad" role="alert">${problem}</p>`;
  if (groups === undefined) return html`<p class="quiet" role="status">Loading…</p>`;
  const actions = Object.values(groups).flat();
  if (actions.length === 0)
    return html`<p class="empty">The release has no entries yet. Add those that it publishes or unpublishes.</p>`;
  return html`<div class="scroll" role="region" aria-label="Table of entries" tabindex="0">
      <table class="release-entries">
        <thead><tr><th>entry</th><th>type</th><th>locale</th><th>what happens</th><th>state now</th><th>problem</th><th>actions</th></tr></thead>
        <tbody>${actions.map((action) => html`<${EntryRow} key=${action.id} id=${id} action=${action} isPending=${isPending} report=${report} />`)}</tbody>
      </table>
    </div>
    <${Pager} meta=${meta} before="Before" after="After" />`;
}

type RowProps = {
  readonly id: number;
  readonly action: ListedReleaseAction;
  readonly isPending: boolean;
  readonly report: Report;
};

function EntryRow({ id, action, isPending, report }: RowProps) {
  const { contentType, entryDocumentId, locale, type, status, problem } = action;
  const known = types.value.find(({ uid }) => uid === contentType.uid);
  const path = `/_varve/releases/${id}/actions/${action.id}`;
  return html`<tr>
    <td>${known === undefined ? entryDocumentId : html`<a href=${linkTo(['content', pathName(known), entryDocumentId], { locale: locale === null || locale.code === '*' ? undefined : locale.code })}>${entryDocumentId}</a>`}</td>
    <td>${contentType.displayName}</td>
    <td>${locale === null ? '' : locale.code === '*' ? 'all' : locale.code}</td>
    <td>${type}</td>
    <td>${status}</td>
    <td class="wrap">${problem === null ? '' : html`<span class="bad">${problem}</span>`}</td>
    <td>${
      isPending &&
      html`<div class="row">
        <${ActionButton} name=${`Remove ${entryDocumentId}`} report=${report} action=${{ label: 'Remove', request: { method: 'DELETE', path }, command: `varve release remove ${id} --action ${action.id}` }} />
      </div>`
    }</td>
  </tr>`;
}

/** Milliseconds after the last key until a search is sent. */
const PAUSE_MS = 200;

/** Finds entries, and adds them to a release. */
export function AddEntries({ id, report }: { readonly id: number; readonly report: Report }) {
  const usable = contentTypes().filter(({ schema }) => schema.draftAndPublish);
  const [uid, setUid] = useState(usable[0]?.uid ?? '');
  const [text, setText] = useState('');
  const [locale, setLocale] = useState('');
  const [does, setDoes] = useState('publish');
  const found = useSearch(
    usable.find((each) => each.uid === uid),
    text,
    locale === '' ? null : locale,
  );
  const type = usable.find((each) => each.uid === uid);
  if (type === undefined)
    return html`<p class="empty">No content type has drafts, so there is nothing to publish.</p>`;
  const textOf = (event: Event) => (event.target as HTMLInputElement).value;
  return html`<details class="add-entries"><summary>Add entries</summary>
    <div class="row">
      <label>what <select name="release-does" value=${does} onChange=${(event: Event) => setDoes(textOf(event))}><option>publish</option><option>unpublish</option></select></label>
      <label>type <select name="release-type" value=${uid} onChange=${(event: Event) => setUid(textOf(event))}>${usable.map((each) => html`<option key=${each.uid} value=${each.uid}>${each.schema.displayName}</option>`)}</select></label>
      ${isLocalized(type) && html`<label>locale <input name="release-locale" size="8" placeholder="default, or *" value=${locale} onInput=${(event: Event) => setLocale(textOf(event))} /></label>`}
      <label>find <input name="release-find" type="search" size="20" value=${text} onInput=${(event: Event) => setText(textOf(event))} /></label>
    </div>
    ${found === undefined && html`<p class="quiet" role="status">Loading…</p>`}
    ${found?.length === 0 && html`<p class="empty" role="status">No entry matches.</p>`}
    <ul class="found">${(found ?? []).map((row) => html`<${FoundEntry} key=${row['documentId']} row=${row} type=${type} id=${id} does=${does} locale=${locale} report=${report} />`)}</ul>
  </details>`;
}

function useSearch(type: Type | undefined, text: string, locale: string | null): readonly Row[] | undefined {
  const [found, setFound] = useState<readonly Row[]>();
  useEffect(() => {
    if (type === undefined) return;
    const gone = new AbortController();
    const timer = setTimeout(() => {
      findEntries(type, text, locale === '*' ? null : locale, gone.signal).then(setFound, () => {});
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      gone.abort();
    };
  }, [type?.uid, text, locale]);
  return found;
}

type FoundProps = {
  readonly row: Row;
  readonly type: Type;
  readonly id: number;
  readonly does: string;
  readonly locale: string;
  readonly report: Report;
};

function FoundEntry({ row, type, id, does, locale, report }: FoundProps) {
  const title = shorten(titleOf(type, row), 60);
  const entryDocumentId = String(row['documentId']);
  const data = { type: does, contentType: type.uid, entryDocumentId, ...(locale === '' ? {} : { locale }) };
  const options = [
    ...(locale === '' ? [] : [`--locale ${shellWord(locale)}`]),
    ...(does === 'unpublish' ? ['--unpublish'] : []),
  ];
  const command = [
    `varve release add ${id} --type ${type.uid} --entries ${entryDocumentId}`,
    ...options,
  ].join(' ');
  return html`<li><${ActionButton} name=${`Add ${title}`} report=${report} action=${{ label: 'Add', request: { method: 'POST', path: `/_varve/releases/${id}/actions`, body: { data } }, command }} /> ${title}</li>`;
}
