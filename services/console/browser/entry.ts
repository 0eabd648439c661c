import { useEffect, useState } from 'preact/hooks';
import { messageOf, type Reply, type Request, send } from './api.ts';
import { pathName, titleOf } from './content-model.ts';
import { EntryActions, type EntryState } from './entry-actions.ts';
import type { EntryPlace, Row } from './entry-request.ts';
import { shorten } from './format.ts';
import { HowToSend } from './how-to-send.ts';
import { html } from './html.ts';
import { LinkingEntries } from './linking-entries.ts';
import { asOf } from './route.ts';
import type { Type } from './server.ts';
import { showValue } from './show-value.ts';
import { showWhole } from './values.ts';

type Versions = {
  readonly draft: Row | undefined;
  readonly published: Row | undefined;
  readonly refusal: string | undefined;
};

/** Shows an entry: its draft next to its published version, with the differences marked. */
export function EntryCard({ place }: { readonly place: EntryPlace }) {
  const { type, documentId, locale } = place;
  const [versions, setVersions] = useState<Versions>();
  const [reads, setReads] = useState(0);
  const { draftAndPublish } = type.schema;
  const published = requestOf(type, documentId, locale, draftAndPublish ? 'published' : undefined);
  const draft = draftAndPublish ? requestOf(type, documentId, locale, 'draft') : undefined;
  useEffect(() => {
    let isWanted = true;
    readVersions(draft, published).then(
      (found) => isWanted && setVersions(found),
      (error: Error) =>
        isWanted && setVersions({ draft: undefined, published: undefined, refusal: error.message }),
    );
    return () => {
      isWanted = false;
    };
  }, [published.path, reads]);
  if (versions === undefined) return html`<p class="quiet" role="status">Loading…</p>`;
  const shown = versions.draft ?? versions.published;
  const { draft: first, published: second } = versions;
  const state = {
    hasDraft: first !== undefined,
    isPublished: second !== undefined,
    isModified: first !== undefined && second !== undefined && isModified(type, first, second),
  };
  return html`${
    shown === undefined
      ? html`<h1>There is no such entry</h1><p class="empty">${versions.refusal ?? 'Neither a draft nor a published version is visible to you.'}</p>`
      : html`
      <h1>${shorten(titleOf(type, shown), 80)} <${State} type=${type} state=${state} /></h1>
      <${EntryActions} place=${place} title=${titleOf(type, shown)} state=${state} done=${() => setReads(reads + 1)} />
      <${Values} type=${type} versions=${versions} />
      <${LinkingEntries} place=${place} />`
  }
    <${HowToSend} request=${draft ?? published} />`;
}

function requestOf(
  type: Type,
  documentId: string | undefined,
  locale: string | null,
  status: string | undefined,
): Request {
  const past = asOf();
  const query = new URLSearchParams({
    ...(status && { status }),
    ...(locale && { locale }),
    populate: '*',
    ...(past && { asOf: past }),
  });
  return {
    method: 'GET',
    path: `/api/${pathName(type)}${documentId === undefined ? '' : `/${encodeURIComponent(documentId)}`}?${query}`,
  };
}

async function readVersions(draft: Request | undefined, published: Request): Promise<Versions> {
  const answers = await Promise.all([draft && send(draft), send(published)]);
  const [first, second] = answers.map((answer) =>
    answer?.ok === true ? (answer.json as { data: Row }).data : undefined,
  );
  const refused = answers.find(
    (answer): answer is Reply => answer !== undefined && !answer.ok && answer.status !== 404,
  );
  return { draft: first, published: second, refusal: refused && messageOf(refused) };
}

function State({ type, state }: { readonly type: Type; readonly state: EntryState }) {
  if (!type.schema.draftAndPublish) return null;
  if (!state.isPublished) return html`<span class="badge draft">draft</span>`;
  return state.isModified
    ? html`<span class="badge modified">modified</span>`
    : html`<span class="badge">published</span>`;
}

function isModified({ schema }: Type, draft: Row, published: Row): boolean {
  return Object.keys(schema.attributes).some((name) => differs(draft, published, name));
}

/** Rows of relations have other numeric ids in the two worlds. */
function differs(draft: Row, published: Row, name: string): boolean {
  const text = (row: Row) =>
    JSON.stringify(row[name] ?? null, (key, value: unknown) => (VERSIONED.includes(key) ? undefined : value));
  return text(draft) !== text(published);
}

const VERSIONED = ['id', 'createdAt', 'updatedAt', 'publishedAt'];

function Values({
  type,
  versions: { draft, published },
}: {
  readonly type: Type;
  readonly versions: Versions;
}) {
  const both = draft !== undefined && published !== undefined;
  const names = Object.keys(type.schema.attributes);
  const first = draft ?? published ?? {};
  return html`<div class="scroll" role="region" aria-label="Values" tabindex="0"><table class="values">
    <thead><tr><th>attribute</th>${both ? html`<th>draft</th><th>published</th>` : html`<th>${draft === undefined || !type.schema.draftAndPublish ? 'value' : 'draft'}</th>`}</tr></thead>
    <tbody>${names.map((name) => {
      const isOther = both && differs(draft, published, name);
      return html`<tr key=${name} class=${isOther ? 'other' : ''}>
        <th scope="row">${name}${isOther && html`<span class="badge modified">differs</span>`}</th>
        <td>${showValue(type.schema.attributes[name], first[name])}</td>
        ${both && html`<td>${showValue(type.schema.attributes[name], published[name])}</td>`}
      </tr>`;
    })}
    ${['createdAt', 'updatedAt', 'publishedAt'].map((name) => html`<tr><th scope="row" class="quiet">${name}</th><td>${showWhole(first[name])}</td>${both && html`<td>${showWhole(published[name])}</td>`}</tr>`)}
    </tbody>
  </table></div>`;
}
