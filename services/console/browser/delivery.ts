import { useState } from 'preact/hooks';
import { DeliveriesCard } from './deliveries-card.ts';
import { formatCount, formatShort } from './format.ts';
import { HowToSend } from './how-to-send.ts';
import { html } from './html.ts';
import { samples, state } from './live.ts';
import { useAnswer } from './use-answer.ts';
import { WebhooksCard } from './webhooks-card.ts';

/** Messages to others: webhooks and their deliveries, purges of caches, open streams, and answers from memory. */
export function DeliveryPart() {
  const [changes, setChanges] = useState(0);
  return html`<h1 class="hidden">Delivery</h1>
    <${WebhooksCard} changed=${() => setChanges(changes + 1)} />
    <${DeliveriesCard} changes=${changes} />
    <${PurgesCard} />
    <${ReadersCard} />`;
}

function PurgesCard() {
  const purges = state.value?.purges ?? null;
  return html`<section class="card" aria-label="Purges">
    <h2>Purges of caches</h2>
    ${purges === null && html`<p class="empty">This process purges no cache. <code>--purge</code> names the caches to purge when content changes; the leader purges them.</p>`}
    ${
      purges !== null &&
      html`<ul class="links">${purges.map(({ receiver, count }) => html`<li key=${receiver}>${receiver}: <span class=${count === 0 ? 'good' : 'bad'}>${count === 0 ? 'no change waits' : `${formatCount(count)} changes wait`}</span></li>`)}</ul>`
    }
    <${HowToSend} request=${{ method: 'GET', path: '/_varve/state' }} command="varve status --json" />
  </section>`;
}

type Streams = { readonly open: number };

function ReadersCard() {
  const last = samples.value.at(-1);
  const path = '/_varve/streams';
  const { data } = useAnswer<Streams>(path);
  const asked = (last?.remembered ?? 0) + (last?.computed ?? 0);
  const share = last === undefined || asked === 0 ? null : (last.remembered ?? 0) / asked;
  const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });
  return html`<section class="card" aria-label="Readers">
    <h2>Readers</h2>
    <dl class="headers">
      <div><dt>open streams</dt><dd>${data === undefined ? '…' : formatCount(data.open)} of this process: the change feed, live lists and this page</dd></div>
      <div><dt>answers from memory</dt><dd>${share === null ? 'no read in the last ten seconds' : `${percent.format(share)} of ${formatShort(asked)} reads a second`}</dd></div>
    </dl>
    <${HowToSend} request=${{ method: 'GET', path }} />
    <${HowToSend} request=${{ method: 'GET', path: '/_varve/activity' }} />
  </section>`;
}
