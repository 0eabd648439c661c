import { authorOf } from './event-table.ts';
import { formatCount, formatMoment } from './format.ts';
import { HowToSend } from './how-to-send.ts';
import { type Content, html } from './html.ts';
import { linkTo, route } from './route.ts';
import type { ListedDelivery, WholeEvent } from './server.ts';
import { useAnswer } from './use-answer.ts';

/** One event: who caused it, its data, what it did to rows, and the deliveries that followed. */
export function EventCard({ position }: { readonly position: string }) {
  const path = `/_varve/events/${encodeURIComponent(position)}`;
  const { data: event, problem } = useAnswer<WholeEvent>(path);
  const list = linkTo(['log'], Object.fromEntries(route.value.query));
  if (problem !== null)
    return html`<section class="card"><p class="bad" role="alert">${problem}</p><a href=${list}>All events</a></section>`;
  if (event === undefined) return html`<p class="quiet" role="status">Loading…</p>`;
  return html`<section class="card event" aria-label="Event">
    <div class="row"><h2>${event.type} at position ${formatCount(event.position)}</h2><a href=${list}>Close</a></div>
    <dl class="headers">${factsOf(event).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
    <h3>What it did to rows</h3>
    <${Rows} event=${event} />
    <h3>Deliveries that followed</h3>
    <${Deliveries} position=${event.position} />
    <h3>Data, without private values</h3>
    <pre tabindex="0" class="body">${JSON.stringify(event.data, null, 2)}</pre>
    <${HowToSend} request=${{ method: 'GET', path }} command=${`varve events --from ${event.position} --json`} />
  </section>`;
}

function factsOf(event: WholeEvent): readonly (readonly [name: string, value: Content])[] {
  const { at, stream, revision, id, epoch, requestId, causedBy, chain, unreadable, entry } = event;
  const same = entry === null ? null : linkTo(['log'], { document: entry.documentId });
  const facts: readonly (readonly [name: string, value: Content])[] = [
    ['time', at === null ? null : html`<time datetime=${at}>${formatMoment(at)}</time>`],
    ['by', authorOf(event)],
    ['stream', `${stream}, revision ${revision}`],
    ['entry', same === null ? null : html`<a href=${same}>all events of ${entry?.documentId}</a>`],
    ['id', id],
    ['caused by', causedBy],
    ['request', requestId],
    ['epoch', String(epoch)],
    ['chain', chain],
    ['unreadable', unreadable === null ? null : html`<span class="bad">${unreadable}</span>`],
  ];
  return facts.filter(([, value]) => value !== null && value !== '');
}

const EFFECTS = { create: 'wrote a new row', update: 'changed the row', delete: 'removed the row' } as const;

function Rows({ event: { rows } }: { readonly event: WholeEvent }) {
  if (rows === null) return html`<p class="empty">This process has no content graph: ask one that has.</p>`;
  if (rows.length === 0)
    return html`<p class="empty">None: the event is not about rows, or had no effect.</p>`;
  return html`<ul class="links">
    ${rows.map(({ event, status, locale }) => html`<li>${EFFECTS[event]}: ${status}${locale === null ? '' : `, ${locale}`}</li>`)}
  </ul>`;
}

function Deliveries({ position }: { readonly position: string }) {
  const { data: found, problem } = useAnswer<readonly Omit<ListedDelivery, 'body'>[]>(
    `/_varve/webhooks/*/deliveries?position=${position}&bodies=false&limit=1000`,
  );
  if (problem !== null) return html`<p class="empty">${problem}</p>`;
  if (found === undefined) return html`<p class="quiet">Loading…</p>`;
  if (found.length === 0)
    return html`<p class="empty">None: the deliveries that are stored follow other events.</p>`;
  return html`<ul class="links">
    ${found.map(({ id, hook, event, state, status, error }) => html`<li key=${id}>${event} to <code>${hook}</code>: ${state}${status === null ? '' : `, ${status}`}${error === null ? '' : html`, <span class="bad">${error}</span>`}</li>`)}
  </ul>`;
}
