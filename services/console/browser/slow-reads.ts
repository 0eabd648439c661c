import { pathName } from './content-model.ts';
import { formatCount, formatShort, formatTime, shorten } from './format.ts';
import { HowToSend } from './how-to-send.ts';
import { html } from './html.ts';
import { linkTo } from './route.ts';
import type { SlowQuery } from './server.ts';
import { types } from './session.ts';
import { useAnswer } from './use-answer.ts';

const PATH = '/_varve/slow-queries';

/** Characters of a query at which the server cuts it. */
const CUT_AT = 2_000;

/** The newest reads that took long, with the times of their stages, and a link that runs each again with its plan. */
export function SlowReadsCard() {
  const { data: queries, meta, problem, again } = useAnswer<readonly SlowQuery[]>(PATH);
  const { thresholdMs = 0 } = meta;
  return html`<section class="card" aria-label="Slow reads">
    <h2>Slow reads</h2>
    ${problem !== null && html`<p class="bad" role="alert">${problem}</p>`}
    ${queries?.length === 0 && html`<p class="empty">${thresholdMs === 0 ? 'Slow reads are not noted, because --slow-query-ms is 0.' : `No read has taken longer than ${formatCount(thresholdMs)} ms since this process was started.`}</p>`}
    ${queries !== undefined && queries.length > 0 && html`<${SlowTable} queries=${queries} thresholdMs=${thresholdMs} />`}
    <div class="row"><button type="button" onClick=${again}>Look again</button></div>
    <${HowToSend} request=${{ method: 'GET', path: PATH }} />
  </section>`;
}

type TableProps = { readonly queries: readonly SlowQuery[]; readonly thresholdMs: number };

function SlowTable({ queries, thresholdMs }: TableProps) {
  return html`<p>Reads that took longer than ${formatCount(thresholdMs)} ms, the newest first. The log has them too, as <code>slow query</code>.</p>
    <div class="scroll" role="region" aria-label="Table of slow reads" tabindex="0">
      <table class="slow">
        <thead><tr><th>at</th><th class="number">ms</th><th class="number">plan</th><th class="number">search</th><th class="number">populate</th><th class="number">render</th><th>type</th><th>query</th><th>request</th></tr></thead>
        <tbody>${queries.map((query, i) => html`<${SlowRow} key=${`${query.at} ${i}`} slow=${query} />`)}</tbody>
      </table>
    </div>`;
}

function SlowRow({ slow }: { readonly slow: SlowQuery }) {
  const { at, requestId, type, query, planMs, searchMs, populateMs, renderMs } = slow;
  const link = linkOf(slow);
  const text = shorten(query === '' ? '(no parameters)' : query, 300);
  return html`<tr>
    <td><time datetime=${at}>${formatTime(at)}</time></td>
    ${[planMs + searchMs + populateMs + renderMs, planMs, searchMs, populateMs, renderMs].map((ms, i) => html`<td key=${i} class="number">${formatShort(ms)}</td>`)}
    <td>${type}</td>
    <td class="wrap">${link === undefined ? html`<code>${text}</code>` : html`<a href=${link}>${text}</a>`}</td>
    <td>${requestId ?? ''}</td>
  </tr>`;
}

/** Returns the link that sends the query as a list, with its plan; undefined: the query was cut, or is not one of a list. */
function linkOf({ type, query }: SlowQuery): string | undefined {
  const known = types.value.find(({ uid }) => uid === type);
  if (known === undefined || query.length >= CUT_AT) return undefined;
  const request = `/api/${pathName(known)}${query === '' ? '' : `?${query}`}`;
  return linkTo(['query'], { request, plan: 'true' });
}
