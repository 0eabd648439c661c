import { useEffect, useState } from 'preact/hooks';
import { ActionButton, type Outcome, OutcomeLine } from './action.ts';
import { formatCount, formatTime, UNKNOWN } from './format.ts';
import { HowToSend } from './how-to-send.ts';
import { html } from './html.ts';
import { state } from './live.ts';
import { change, linkTo, route } from './route.ts';
import type { ListedDelivery } from './server.ts';
import { useAnswer } from './use-answer.ts';

const STATES = ['waiting', 'delivered', 'parked', 'elsewhere'];

/** Deliveries of one webhook or of all, the newest first, each with what was sent and what was answered. `changes`: read again. */
export function DeliveriesCard({ changes }: { readonly changes: number }) {
  const [hook = '*'] = route.value.rest;
  const chosen = STATES.find((each) => each === route.value.query.get('state')) ?? '';
  const path = `/_varve/webhooks/${encodeURIComponent(hook)}/deliveries?limit=100${chosen === '' ? '' : `&state=${chosen}`}`;
  const { data: deliveries, problem, again } = useAnswer<readonly ListedDelivery[]>(path);
  const [outcome, setOutcome] = useState<Outcome>();
  const waiting = state.value?.webhooks;
  useEffect(again, [changes, waiting?.waiting, waiting?.parked, state.value?.log?.position]);
  const report = (found: Outcome) => {
    setOutcome(found);
    again();
  };
  const options = [...(hook === '*' ? [] : [hook]), ...(chosen === '' ? [] : [`--state ${chosen}`])];
  const command = ['varve webhook deliveries', ...options].join(' ');
  return html`<section class="card" aria-label="Deliveries">
    <h2>Deliveries ${hook === '*' ? 'of all webhooks' : `of ${hook}`}</h2>
    <div class="row">
      <label>state <select value=${chosen} onChange=${(event: Event) => change({ state: (event.target as HTMLSelectElement).value })}>
        <option value="">all</option>${STATES.map((each) => html`<option selected=${each === chosen}>${each}</option>`)}
      </select></label>
      ${hook !== '*' && html`<a href=${linkTo(['delivery'])}>Deliveries of all webhooks</a>`}
    </div>
    ${problem !== null && html`<p class="bad" role="alert">${problem}</p>`}
    ${deliveries?.length === 0 && html`<p class="empty">There is no such delivery. A change of content makes one for each webhook that wants it.</p>`}
    ${
      (deliveries?.length ?? 0) > 0 &&
      html`<div class="scroll" role="region" aria-label="Table of deliveries" tabindex="0">
      <table class="deliveries">
        <thead><tr><th>time</th><th>event</th><th>document</th><th class="number">position</th><th>state</th><th class="number">attempts</th><th>answer</th><th>request</th><th>actions</th></tr></thead>
        <tbody>${deliveries?.map((each) => html`<${DeliveryRow} key=${each.id} delivery=${each} report=${report} />`)}</tbody>
      </table></div>`
    }
    <${OutcomeLine} outcome=${outcome} />
    <${HowToSend} request=${{ method: 'GET', path }} command=${command} />
  </section>`;
}

type RowProps = { readonly delivery: ListedDelivery; readonly report: (outcome: Outcome) => void };

function DeliveryRow({ delivery, report }: RowProps) {
  const { id, hook, event, documentId, position, createdAt, state: found, nextAttemptAt } = delivery;
  const { attempts, status, error, body } = delivery;
  return html`<tr>
    <td><time datetime=${createdAt}>${formatTime(createdAt)}</time></td>
    <td>${event}</td>
    <td><code>${documentId}</code></td>
    <td class="number"><a href=${linkTo(['log', position])}>${formatCount(position)}</a></td>
    <td><span class=${found === 'parked' ? 'bad' : found === 'delivered' ? 'good' : ''}>${found}</span>${nextAttemptAt === null ? '' : html` <span class="quiet">next at ${formatTime(nextAttemptAt)}</span>`}</td>
    <td class="number">${formatCount(attempts)}</td>
    <td class="wrap">${status ?? (error === null ? UNKNOWN : '')} ${error !== null && html`<span class="bad">${error}</span>`}</td>
    <td><details><summary aria-label=${`show the request of ${id}`}>show</summary><pre tabindex="0">${JSON.stringify(body, null, 2)}</pre></details></td>
    <td>${
      found !== 'waiting' &&
      html`<${ActionButton} name=${`Send again ${id}`} report=${report} action=${{
        label: 'Send again',
        request: {
          method: 'POST',
          path: `/_varve/webhooks/${hook}/replay`,
          body: { data: { delivery: id } },
        },
        command: `varve webhook replay ${hook} --delivery ${id}`,
      }} />`
    }</td>
  </tr>`;
}
