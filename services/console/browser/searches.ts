import { useState } from 'preact/hooks';
import { pathName } from './content-model.ts';
import { formatCount } from './format.ts';
import { HowToSend } from './how-to-send.ts';
import { html } from './html.ts';
import { linkTo } from './route.ts';
import type { ListedSearch } from './server.ts';
import { types } from './session.ts';
import { useAnswer } from './use-answer.ts';

const PATH = '/_varve/searches';

const ORDERS = [
  ['count', 'most searched'],
  ['none', 'without results'],
  ['corrected', 'corrected'],
  ['clicks', 'most clicked'],
] as const;

/** Card with the searches of people: the queries of the last week, each with a link that sends it. */
export function SearchesCard() {
  const [order, setOrder] = useState('count');
  const path = `${PATH}?order=${order}`;
  const { data: searches, meta, latest, problem, again } = useAnswer<readonly ListedSearch[]>(path);
  const isCounting = Number(latest?.meta['keptDays'] ?? 0) > 0;
  const change = (event: Event) => setOrder((event.target as HTMLSelectElement).value);
  return html`<section class="card" aria-label="Searches">
    <h2>What people look for</h2>
    ${problem !== null && html`<p class="bad" role="alert">${problem}</p>`}
    ${isCounting && html`<div class="row"><label>Show <select value=${order} onChange=${change}>${ORDERS.map(([name, text]) => html`<option key=${name} value=${name}>${text}</option>`)}</select></label></div>`}
    ${searches?.length === 0 && html`<p class="empty">${isCounting ? `No such searches were counted since ${meta['from']}.` : 'Searches are not counted, because --search-log-days is 0.'}</p>`}
    ${searches !== undefined && searches.length > 0 && html`<p>${formatCount(Number(meta['searches']))} searches since ${meta['from']}, on this server. No user, address or time of day is kept.</p><${SearchTable} searches=${searches} />`}
    <div class="row"><button type="button" onClick=${again}>Look again</button></div>
    <${HowToSend} request=${{ method: 'GET', path }} command=${`varve searches list --order ${order}`} />
  </section>`;
}

function SearchTable({ searches }: { readonly searches: readonly ListedSearch[] }) {
  return html`<div class="scroll" role="region" aria-label="Table of searches" tabindex="0">
    <table>
      <thead><tr><th>query</th><th>type</th><th>locale</th><th class="number">searches</th><th class="number">found nothing</th><th class="number">corrected</th><th class="number">clicks</th><th class="number">position</th></tr></thead>
      <tbody>${searches.map((each) => html`<${SearchRow} key=${`${each.type} ${each.locale} ${each.query}`} search=${each} />`)}</tbody>
    </table>
  </div>`;
}

function SearchRow({ search }: { readonly search: ListedSearch }) {
  const { query, type, locale, count, none, corrected, correction, clicks, position } = search;
  const link = linkOf(search);
  return html`<tr>
    <td class="wrap">${link === undefined ? query : html`<a href=${link}>${query}</a>`}</td>
    <td>${type}</td>
    <td>${locale}</td>
    ${[count, none].map((number, i) => html`<td key=${i} class="number">${formatCount(number)}</td>`)}
    <td class="number" title=${correction ?? ''}>${formatCount(corrected)}</td>
    <td class="number">${formatCount(clicks)}</td>
    <td class="number">${position ?? ''}</td>
  </tr>`;
}

/** Returns the link that sends the search as a list; undefined: the type is not served any more. */
function linkOf({ type, locale, query }: ListedSearch): string | undefined {
  const known = types.value.find(({ uid }) => uid === type);
  if (known === undefined) return undefined;
  const parameters = new URLSearchParams({ search: query, locale });
  return linkTo(['query'], { request: `/api/${pathName(known)}?${parameters}`, plan: 'true' });
}
