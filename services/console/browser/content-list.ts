import type { Meta } from './api.ts';
import { callerRights, columnsOf, isLocalized, mayDo, pathName } from './content-model.ts';
import { FilterBuilder } from './filter-builder.ts';
import { filterQuery, parseFilterRows } from './filter-rows.ts';
import { formatCount } from './format.ts';
import { HowToSend } from './how-to-send.ts';
import { html } from './html.ts';
import { Pager } from './pager.ts';
import { asOf, change, linkTo, route } from './route.ts';
import { Facets, type FoundMeta, MatchedWords, searchQuery } from './search-results.ts';
import type { Type } from './server.ts';
import { rights } from './session.ts';
import { useAnswer } from './use-answer.ts';
import { showCell } from './values.ts';

const PAGE_SIZE = 25;

type Page = { readonly data: readonly Readonly<Record<string, unknown>>[]; readonly meta: Meta & FoundMeta };

/** The entries of a type: columns, sort, search, world, locale, filter and pages, all of them in the URL. */
export function ContentList({ type }: { readonly type: Type }) {
  const path = listPath(type);
  const { latest, problem } = useAnswer<Page['data']>(path);
  const page: Page | undefined = latest;
  const total = page?.meta.pagination?.total;
  return html`<section class="card">
    <div class="row spread"><h1>${type.schema.displayName}${' '}<span class="quiet count">${total === undefined ? '' : formatCount(total)}</span></h1>
      <span class="row"><a href=${linkTo(['content', pathName(type), '_type'])}>Attributes</a> ${callerRights.value?.history && mayDo(type, 'find') && type.schema.kind === 'collectionType' && html`<a href=${linkTo(['content', pathName(type), '_deleted'])}>Deleted</a>`}
      ${mayDo(type, 'create') && html`<a class="button" href=${linkTo(['content', pathName(type), '_new'], { locale: route.value.query.get('locale') ?? undefined })}>New entry</a>`}</span></div>
    <${Controls} type=${type} />
    <${FilterBuilder} type=${type} />
    <${Facets} type=${type} meta=${page?.meta ?? {}} />
    ${problem !== null && html`<p class="bad" role="alert">${problem}</p>`}
    ${page === undefined && problem === null && html`<p class="quiet" role="status">${asOf() === undefined ? 'Loading…' : 'Opening the past. The first read of a moment takes some seconds…'}</p>`}
    ${page !== undefined && html`<${Rows} type=${type} page=${page} />`}
    <p class="row"><code class="path">${path}</code> <a href=${queryLink(path)}>${hasReasons() ? 'Why these hits, in Query' : 'Open in Query'}</a></p>
    <${HowToSend} request=${{ method: 'GET', path }} />
  </section>`;
}

/** Returns whether the server says why entries are found. */
function hasReasons(): boolean {
  return rights.value === 'full' && Boolean(route.value.query.get('q'));
}

function queryLink(path: string): string {
  return linkTo(['query'], { request: path, plan: hasReasons() ? 'true' : undefined });
}

/** Returns the request for the list that the URL of the page describes. */
function listPath(type: Type): string {
  const { query } = route.value;
  const pairs: (readonly [string, string | null])[] = [
    ['status', type.schema.draftAndPublish ? (query.get('status') ?? 'draft') : null],
    ['locale', isLocalized(type) ? query.get('locale') : null],
    ...searchQuery(type, query.get('q'), query.get('facets') === 'true'),
    ['sort', query.get('sort')],
    ...filterQuery(parseFilterRows(query.get('filter') ?? '') ?? []),
    ['pagination[page]', query.get('page')],
    ['pagination[pageSize]', String(PAGE_SIZE)],
    ['asOf', asOf() ?? null],
  ];
  const text = pairs
    .filter((pair): pair is readonly [string, string] => (pair[1] ?? '') !== '')
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return `/api/${pathName(type)}?${text.join('&')}`;
}

function Controls({ type }: { readonly type: Type }) {
  const { query } = route.value;
  const submit = (event: Event) => {
    event.preventDefault();
    const data = new FormData(event.target as HTMLFormElement);
    const text = (name: string) => String(data.get(name) ?? '');
    change({ q: text('q'), locale: text('locale'), page: undefined });
  };
  return html`<form class="row" role="search" onSubmit=${submit}>
    <input type="search" name="q" aria-label="Search" placeholder="Search" key=${query.get('q')} defaultValue=${query.get('q') ?? ''} />
    ${
      type.schema.draftAndPublish &&
      html`<select aria-label="World" value=${query.get('status') ?? 'draft'}
        onChange=${(event: Event) => change({ status: (event.target as HTMLSelectElement).value, page: undefined })}>
        <option value="draft">drafts</option><option value="published">published</option></select>`
    }
    ${isLocalized(type) && html`<input name="locale" aria-label="Locale" size="6" placeholder="locale" key=${query.get('locale')} defaultValue=${query.get('locale') ?? ''} />`}
    <button type="submit">Show</button>
  </form>`;
}

function Rows({ type, page: { data, meta } }: { readonly type: Type; readonly page: Page }) {
  const columns = columnsOf(type);
  const { query } = route.value;
  if (data.length === 0)
    return html`<p class="empty">${query.get('q') || query.get('filter') ? 'No entry matches. Remove a condition, or search for less.' : `There is no entry yet.${mayDo(type, 'create') ? ' Write the first one with “New entry”.' : ''}`}</p>`;
  return html`<div class="scroll" role="region" aria-label="Entries" tabindex="0"><table>
      <thead><tr>${columns.map((name) => html`<${Heading} key=${name} name=${name} />`)}</tr></thead>
      <tbody>${data.map(
        (entry) => html`<tr key=${entry['documentId']}>
        ${columns.map((name, i) => html`<td>${i === 0 ? html`<a href=${linkTo(['content', pathName(type), String(entry['documentId'])], { locale: textOf(entry['locale']) })}>${showCell(entry[name]) || '(empty)'}</a><${MatchedWords} texts=${highlightsOf(entry, meta)} />` : showCell(entry[name])}</td>`)}
      </tr>`,
      )}</tbody>
    </table></div>
    <${Pager} meta=${meta} before="Previous" after="Next" />`;
}

/** With several locales, a name has the locale behind the documentId. */
function highlightsOf(entry: Page['data'][number], { highlights }: FoundMeta) {
  const id = String(entry['documentId']);
  return highlights?.[id] ?? highlights?.[`${id}:${entry['locale']}`];
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function Heading({ name }: { readonly name: string }) {
  const [sorted = '', direction] = (route.value.query.get('sort') ?? '').split(':');
  const isSorted = sorted === name;
  const next = isSorted && direction !== 'desc' ? `${name}:desc` : `${name}:asc`;
  const order = direction === 'desc' ? 'descending' : 'ascending';
  return html`<th aria-sort=${isSorted ? order : undefined}><button type="button" class="plain" onClick=${() => change({ sort: next, page: undefined })}>
    ${name}${isSorted ? (direction === 'desc' ? ' ↓' : ' ↑') : ''}</button></th>`;
}
