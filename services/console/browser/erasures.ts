import { useState } from 'preact/hooks';
import { EraseCard } from './erase-card.ts';
import { formatCount, formatMoment } from './format.ts';
import { HowToSend } from './how-to-send.ts';
import { html } from './html.ts';
import { Pager } from './pager.ts';
import { linkTo, route } from './route.ts';
import type { ListedErasure } from './server.ts';
import { useAnswer } from './use-answer.ts';

const PATH = '/_varve/erasures';
const PAGE_SIZE = 100;

/** Erasures: the orders with their state and proof, and a new one. */
export function ErasuresPart() {
  const [changes, setChanges] = useState(0);
  return html`<h1 class="hidden">Erasures</h1>
    <${OrdersCard} key=${changes} />
    <${EraseCard} changed=${() => setChanges(changes + 1)} />`;
}

function OrdersCard() {
  const page = Number(route.value.query.get('page') ?? 1);
  const path = `${PATH}?pageSize=${PAGE_SIZE}&page=${page}`;
  const { data: orders, meta, problem } = useAnswer<readonly ListedErasure[]>(path);
  return html`<section class="card" aria-label="Erasures">
    <h2>Erasures</h2>
    ${problem !== null && html`<p class="bad" role="alert">${problem}</p>`}
    ${orders === undefined && problem === null && html`<p class="quiet" role="status">Loading…</p>`}
    ${orders?.length === 0 && html`<p class="empty">Nothing was erased. A deleted entry stays in the history. An erasure also removes its values from every event of the log, for good.</p>`}
    ${orders !== undefined && orders.length > 0 && html`<${OrderTable} orders=${orders} />`}
    <${Pager} meta=${meta} before="Newer" after="Older" />
    <p class="quiet">The proof names each erased event, and the digest of what is left of it. <a href=${linkTo(['projections'])}>Verification</a> compares both.</p>
    <${HowToSend} request=${{ method: 'GET', path }} />
  </section>`;
}

function OrderTable({ orders }: { readonly orders: readonly ListedErasure[] }) {
  return html`<div class="scroll" role="region" aria-label="Table of erasures" tabindex="0">
    <table class="erasures">
      <thead><tr><th>ordered</th><th>type</th><th>document</th><th>state</th><th class="number">erased events</th><th>order</th><th>proof</th><th>reason</th></tr></thead>
      <tbody>${orders.map((order) => html`<${OrderRow} key=${order.id} order=${order} />`)}</tbody>
    </table>
  </div>`;
}

function OrderRow({ order }: { readonly order: ListedErasure }) {
  const { type, documentId, events, reason, orderedAt, position, proof, erased } = order;
  const eventAt = (at: string) => html`<a href=${linkTo(['log', at])}>${formatCount(at)}</a>`;
  return html`<tr>
    <td><time datetime=${orderedAt}>${formatMoment(orderedAt)}</time></td>
    <td><code>${type}</code></td>
    <td><code>${documentId}</code></td>
    <td><span class=${erased ? 'good' : 'bad'}>${erased ? 'erased' : 'being carried out'}</span></td>
    <td class="number">${formatCount(events)}</td>
    <td>${eventAt(position)}</td>
    <td>${proof === null ? html`<span class="quiet">not yet</span>` : eventAt(proof)}</td>
    <td class="wrap">${reason ?? ''}</td>
  </tr>`;
}
