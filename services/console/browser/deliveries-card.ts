import { useEffect, useRef, useState } from 'preact/hooks';
import { ActionButton, type Outcome, OutcomeLine } from './action.ts';
import { formatCount, formatTime, UNKNOWN } from './format.ts';
import { HowToSend } from './how-to-send.ts';
import { html } from './html.ts';
import { state } from './live.ts';
import { change, linkTo, route } from './route.ts';
import type { ListedDelivery } from './server.ts';
import { useAnswer } from './use-answer.ts';

const STATES = ['waiting', 'delivered', 'parked', 'elsewhere'];

/** Milliseconds between two reads, unless the reader does something. */
const EVERY_MS = 5_000;

/** Deliveries of one webhook or of all, the newest first, each with what was sent and what was answered. `changes`: read again. */
export function DeliveriesCard({ changes }: { readonly changes: number }) {
  const [hook = '*'] = route.value.rest;
  const chosen = STATES.find((each) => each === route.value.query.get('state')) ?? '';
  const path = `/_varve/webhooks/${encodeURIComponent(hook)}/deliveries?limit=100&bodies=false${chosen === '' ? '' : `&state=${chosen}`}`;
  const { data: deliveries, problem, again } = useAnswer<readonly Listed[]>(path);
  const [outcome, setOutcome] = useState<Outcome>();
  useAgain(again, changes);
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

type Listed = Omit<ListedDelivery, 'body'>;

/** Reads again after a change of the reader, and now and then while the log grows or deliveries end. */
function useAgain(again: () => void, changes: number): void {
  const { webhooks, log } = state.value ?? {};
  const current = JSON.stringify([webhooks?.waiting, webhooks?.parked, log?.position]);
  const read = useRef({ current, at: Date.now() });
  const now = () => {
    read.current = { current, at: Date.now() };
    again();
  };
  useEffect(() => (changes > 0 ? now() : undefined), [changes]);
  useEffect(() => {
    if (current === read.current.current) return;
    const timer = setTimeout(now, read.current.at + EVERY_MS - Date.now());
    return () => clearTimeout(timer);
  }, [current]);
}

type RowProps = { readonly delivery: Listed; readonly report: (outcome: Outcome) => void };

function DeliveryRow({ delivery, report }: RowProps) {
  const { id, hook, event, documentId, position, createdAt, state: found, nextAttemptAt } = delivery;
  const { attempts, status, error } = delivery;
  const [isOpen, setOpen] = useState(false);
  return html`<tr>
    <td><time datetime=${createdAt}>${formatTime(createdAt)}</time></td>
    <td>${event}</td>
    <td><code>${documentId}</code></td>
    <td class="number"><a href=${linkTo(['log', position])}>${formatCount(position)}</a></td>
    <td><span class=${found === 'parked' ? 'bad' : found === 'delivered' ? 'good' : ''}>${found}</span>${nextAttemptAt === null ? '' : html` <span class="quiet">next at ${formatTime(nextAttemptAt)}</span>`}</td>
    <td class="number">${formatCount(attempts)}</td>
    <td class="wrap">${status ?? (error === null ? UNKNOWN : '')} ${error !== null && html`<span class="bad">${error}</span>`}</td>
    <td><details onToggle=${() => setOpen(!isOpen)}><summary aria-label=${`show the request of ${id}`}>show</summary>${isOpen && html`<${Body} delivery=${delivery} />`}</details></td>
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

/** The body of a delivery, which is read when somebody opens it. */
function Body({ delivery: { id, hook, position } }: { readonly delivery: Listed }) {
  const { data, problem } = useAnswer<readonly ListedDelivery[]>(
    `/_varve/webhooks/${hook}/deliveries?position=${position}&limit=1000`,
  );
  const found = data?.find((each) => each.id === id);
  if (problem !== null) return html`<p class="bad" role="alert">${problem}</p>`;
  if (data === undefined) return html`<p class="quiet">Loading…</p>`;
  if (found === undefined) return html`<p class="empty">It is no longer stored.</p>`;
  return html`<pre tabindex="0">${JSON.stringify(found.body, null, 2)}</pre>`;
}
