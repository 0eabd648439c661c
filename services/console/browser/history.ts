import { useState } from 'preact/hooks';
import { pathName } from './content-model.ts';
import { type EntryPlace, entryPath, rowQuery, write } from './entry-request.ts';
import { formatMoment } from './format.ts';
import { HowToSend } from './how-to-send.ts';
import { html } from './html.ts';
import { Pager } from './pager.ts';
import { change, linkTo, route } from './route.ts';
import { useAnswer } from './use-answer.ts';
import { VersionDiff } from './version-diff.ts';
import { VersionValues } from './version-values.ts';
import {
  mayRestore,
  RestoreNotice,
  restoreRequest,
  type Version,
  type VersionsMeta,
  versionAuthor,
} from './versions.ts';

const PAGE_SIZE = 25;

type Page = { readonly data: readonly Version[]; readonly meta: VersionsMeta };

/** The history of an entry: its versions, the difference of two, one as it was, and restore. */
export function EntryHistory({ place }: { readonly place: EntryPlace }) {
  const { query } = route.value;
  const [refusal, setRefusal] = useState('');
  const [restored, setRestored] = useState<VersionsMeta>();
  const [restores, setRestores] = useState(0);
  const path = entryPath(place, '/versions', [
    ...rowQuery(place),
    ['pagination[page]', query.get('page') ?? '1'],
    ['pagination[pageSize]', String(PAGE_SIZE)],
  ]);
  const { latest, problem: unread, again } = useAnswer<Page['data']>(path);
  const page: Page | undefined = latest;
  const problem = refusal || (unread ?? '');
  const restore = async (version: string) => {
    const result = await write(restoreRequest(place, version));
    setRefusal('refusal' in result ? result.refusal.message : '');
    if ('refusal' in result) return;
    setRestored(result.meta);
    setRestores(restores + 1);
    again();
  };
  const [shown, from, to] = [query.get('version'), query.get('from'), query.get('to') ?? 'current'];
  return html`<h1>History</h1>
    ${problem !== '' && html`<p class="bad" role="alert">${problem}</p>`}
    ${restored !== undefined && html`<${RestoreNotice} meta=${restored} /><p><a href=${linkTo(['content', pathName(place.type), ...(place.documentId === undefined ? [] : [place.documentId])], { locale: place.locale ?? undefined })}>Show the entry</a></p>`}
    ${page === undefined ? problem === '' && html`<p class="quiet" role="status">Loading…</p>` : html`<${Versions} page=${page} place=${place} restore=${restore} />`}
    ${from !== null && html`<${VersionDiff} key=${`${from} ${to} ${restores}`} place=${place} from=${from} to=${to} />`}
    ${shown !== null && html`<${VersionValues} key=${shown} place=${place} version=${shown} />`}
    <${HowToSend} what="list the versions" request=${{ method: 'GET', path }} />
    ${page?.data[0] !== undefined && mayRestore(place) && html`<${HowToSend} what="restore a version" request=${restoreRequest(place, shown ?? page.data[0].id)} />`}`;
}

type VersionsProps = {
  readonly page: Page;
  readonly place: EntryPlace;
  readonly restore: (version: string) => Promise<void>;
};

function Versions({ page: { data, meta }, place, restore }: VersionsProps) {
  if (data.length === 0) return html`<p class="empty">There is no version that you may see.</p>`;
  const { page = 1 } = meta.pagination ?? {};
  return html`<div class="scroll" role="region" aria-label="Versions" tabindex="0"><table class="versions">
      <thead><tr><th>from</th><th>to</th><th>time</th><th>action</th><th>then</th><th>changed</th><th>by</th><th>how</th><th><span class="hidden">Actions</span></th></tr></thead>
      <tbody>${data.map((version, i) => html`<${Row} key=${version.id} version=${version} isNewest=${i === 0 && page === 1} restore=${mayRestore(place) ? restore : undefined} />`)}</tbody>
    </table></div>
    <${Pager} meta=${meta} before="Newer" after="Older" />`;
}

type RowProps = {
  readonly version: Version;
  readonly isNewest: boolean;
  readonly restore: ((version: string) => Promise<void>) | undefined;
};

function Row({ version, isNewest, restore }: RowProps) {
  const { id, locale, status, action, changed, createdAt, via } = version;
  const { query } = route.value;
  const when = formatMoment(createdAt);
  const from = query.get('from');
  const isTo = from !== null && (query.get('to') === id || (query.get('to') === null && isNewest));
  return html`<tr>
    <td><input type="radio" name="from" aria-label=${`Compare from ${id}, ${when}`} checked=${from === id} onChange=${() => change({ from: id, version: undefined })} /></td>
    <td><input type="radio" name="to" aria-label=${`Compare to ${id}, ${when}`} checked=${isTo} disabled=${from === null} onChange=${() => change({ to: id })} /></td>
    <td><time datetime=${createdAt}>${when}</time></td>
    <td>${action}${locale === null ? '' : ` (${locale})`}</td>
    <td>${status !== null && html`<span class=${`badge ${status}`}>${status}</span>`}</td>
    <td class="names">${(changed ?? []).join(', ')}</td>
    <td class="quiet">${versionAuthor(version)}</td>
    <td class="quiet">${via}</td>
    <td><button type="button" class="plain" aria-label=${`Show ${id}`} onClick=${() => change({ version: id, from: undefined, to: undefined })}>Show</button>
      ${restore !== undefined && status !== null && html`<button type="button" class="plain" aria-label=${`Restore ${id}`} onClick=${() => void restore(id)}>Restore</button>`}</td>
  </tr>`;
}
