import { useState } from 'preact/hooks';
import { mayDo, pathName, titleOf } from './content-model.ts';
import { type EntryPlace, entryPath, type Row, rowQuery, write } from './entry-request.ts';
import { formatMoment, shorten } from './format.ts';
import { HowToSend } from './how-to-send.ts';
import { html } from './html.ts';
import { linkTo, route } from './route.ts';
import type { Type } from './server.ts';
import { rights } from './session.ts';
import { useAnswer } from './use-answer.ts';
import {
  type Deletion,
  mayRestore,
  RestoreNotice,
  restoreRequest,
  type VersionsMeta,
  versionAuthor,
} from './versions.ts';

type Page = { readonly data: readonly Row[]; readonly meta: VersionsMeta };

/** Entries of a type that were deleted: when, by whom, and restore. */
export function DeletedList({ type }: { readonly type: Type }) {
  const [refusal, setRefusal] = useState('');
  const [restored, setRestored] = useState<VersionsMeta>();
  const [before, setBefore] = useState<string>();
  const place: EntryPlace = { type, documentId: undefined, locale: route.value.query.get('locale') };
  const path = entryPath(place, '/_deleted', [
    ...rowQuery(place),
    ...(before === undefined ? [] : [['before', before] as const]),
  ]);
  const { latest, problem: unread, again } = useAnswer<Page['data']>(path);
  const page: Page | undefined = latest;
  const problem = refusal || (unread ?? '');
  const restore = async ({ documentId, version }: Deletion) => {
    const result = await write(restoreRequest({ ...place, documentId }, version));
    setRefusal('refusal' in result ? result.refusal.message : '');
    if ('refusal' in result) return;
    setRestored(result.meta);
    again();
  };
  const deletions = page?.meta.deletions ?? [];
  return html`<section class="card">
    <p class="quiet"><a href=${linkTo(['content', pathName(type)])}>${type.schema.displayName}</a> / deleted</p>
    <h1>Deleted entries</h1>
    ${problem !== '' && html`<p class="bad" role="alert">${problem}</p>`}
    ${restored !== undefined && html`<${RestoreNotice} meta=${restored} />`}
    ${page?.data.length === 0 && html`<p class="empty">No entry of this type was deleted. A deleted entry appears here with its last values.</p>`}
    ${page !== undefined && page.data.length > 0 && html`<${Deleted} type=${type} rows=${page.data} deletions=${deletions} restore=${restore} />`}
    ${page?.meta.next && html`<p class="row"><button type="button" onClick=${() => setBefore(page.meta.next ?? undefined)}>Earlier ones</button></p>`}
    <${HowToSend} what="list them" request=${{ method: 'GET', path }} />
    ${deletions[0] !== undefined && mayRecreate(type) && html`<${HowToSend} what="restore an entry" request=${restoreRequest({ ...place, documentId: deletions[0].documentId }, deletions[0].version)} />`}
  </section>`;
}

function mayRecreate(type: Type): boolean {
  return mayDo(type, 'create') && mayRestore({ type });
}

type DeletedProps = {
  readonly type: Type;
  readonly rows: readonly Row[];
  readonly deletions: readonly Deletion[];
  readonly restore: (deletion: Deletion) => Promise<void>;
};

function Deleted({ type, rows, deletions, restore }: DeletedProps) {
  return html`<div class="scroll" role="region" aria-label="Deleted entries" tabindex="0"><table>
    <thead><tr><th>name</th><th>deleted</th><th>by</th><th><span class="hidden">Actions</span></th></tr></thead>
    <tbody>${rows.map((row) => {
      const deletion = deletions.find(({ documentId }) => documentId === row['documentId']);
      const title = shorten(titleOf(type, row), 60);
      const locale = typeof row['locale'] === 'string' ? row['locale'] : undefined;
      return html`<tr key=${row['documentId']}>
        <td><a href=${linkTo(['content', pathName(type), String(row['documentId']), 'history'], { locale })}>${title}</a></td>
        <td>${deletion !== undefined && formatMoment(deletion.createdAt)}</td>
        <td class="quiet">${deletion !== undefined && versionAuthor(deletion)}</td>
        <td>${deletion !== undefined && mayRecreate(type) && html`<button type="button" class="plain" aria-label=${`Restore ${title}`} onClick=${() => void restore(deletion)}>Restore</button>`}
          ${rights.value === 'full' && html` <a aria-label=${`Erase ${title}`} href=${linkTo(['erasures'], { type: type.uid, document: String(row['documentId']) })}>Erase</a>`}</td>
      </tr>`;
    })}</tbody></table></div>`;
}
