import { useState } from 'preact/hooks';
import { ActionButton, type Outcome, OutcomeLine } from './action.ts';
import { messageOf, send } from './api.ts';
import { pathName } from './content-model.ts';
import { formatCount } from './format.ts';
import { HowToSend } from './how-to-send.ts';
import { html } from './html.ts';
import { state } from './live.ts';
import { operationRequest } from './operations.ts';
import { linkTo } from './route.ts';
import type { ForeignEvent, ParkedItem, ParkedLine } from './server.ts';
import { types } from './session.ts';
import { useAsked } from './use-answer.ts';

const LIST = operationRequest('list-parked');

/** Documents that the read index refused, and events of other programs that were skipped. */
export function ParkedCard() {
  const [outcome, setOutcome] = useState<Outcome>();
  const parked = (state.value?.projections ?? []).reduce((sum, each) => sum + each.parked, 0);
  const foreign = state.value?.log?.foreignEvents ?? null;
  const { found, problem, again } = useAsked(JSON.stringify([parked, foreign]), readLines);
  const lines = found?.answer ?? [];
  const report = (ended: Outcome) => {
    setOutcome(ended);
    again();
  };
  const items = lines.flatMap((line) => (line.kind === 'item' ? [line.item] : []));
  const events = lines.flatMap((line) => (line.kind === 'event' ? [line.event] : []));
  return html`<section class="card" aria-label="Parked documents">
    <h2>Parked documents</h2>
    ${problem !== null && html`<p class="bad" role="alert">${problem}</p>`}
    ${found !== undefined && items.length === 0 && html`<p class="empty">The read index has refused no document.</p>`}
    ${items.length > 0 && html`<${Items} items=${items} report=${report} />`}
    <${OutcomeLine} outcome=${outcome} done=${outcome === undefined ? '' : doneText(outcome)} />
    ${events.length > 0 && html`<${ForeignEvents} events=${events} />`}
    <${HowToSend} request=${LIST} command="varve parked list" />
  </section>`;
}

async function readLines(signal: AbortSignal): Promise<readonly ParkedLine[]> {
  const answer = await send(LIST, signal);
  if (!answer.ok) throw new Error(messageOf(answer));
  return (answer.json as { readonly data: readonly ParkedLine[] }).data;
}

/** Says what became of each retried document. */
function doneText(outcome: Outcome): string {
  if ('problem' in outcome) return outcome.problem;
  const { data } = outcome.answer.json as { readonly data: readonly ParkedLine[] };
  const ends = data.flatMap((line) => (line.kind === 'outcome' ? [line.outcome] : []));
  if (ends.length === 0) {
    const count = data.reduce((sum, line) => sum + (line.kind === 'count' ? line.count : 0), 0);
    return `${formatCount(count)} documents.`;
  }
  return ends
    .map(
      ({ documentId, state: end, reason }) => `${documentId} ${end}${reason === null ? '' : `: ${reason}`}`,
    )
    .join('; ');
}

type ItemsProps = { readonly items: readonly ParkedItem[]; readonly report: (outcome: Outcome) => void };

function Items({ items, report }: ItemsProps) {
  const all = items.length === 1 ? 'the document' : `all ${items.length}`;
  return html`<div class="scroll" role="region" aria-label="Table of parked documents" tabindex="0">
      <table class="parked">
        <thead><tr><th>type</th><th>document</th><th class="number">position</th><th>reason</th><th>row</th><th>actions</th></tr></thead>
        <tbody>${items.map((item) => html`<${ItemRow} key=${item.item} item=${item} report=${report} />`)}</tbody>
      </table>
    </div>
    <div class="row">
      <${ActionButton} report=${report} action=${{
        label: `Retry ${all}`,
        request: operationRequest('parked', { action: 'retry' }),
        command: 'varve parked retry --all',
      }} />
      <${ActionButton} report=${report} action=${{
        label: `Drop ${all}`,
        request: operationRequest('parked', { action: 'drop' }),
        command: 'varve parked drop --all',
        destroys: { what: DROPPED, name: 'drop' },
      }} />
    </div>`;
}

const DROPPED =
  'It leaves this list. The index keeps the state that it accepted last, until the document changes.';

function ItemRow({
  item: parked,
  report,
}: {
  readonly item: ParkedItem;
  readonly report: (outcome: Outcome) => void;
}) {
  const { item, type, documentId, locale, position, reason, row } = parked;
  const known = types.value.find(({ uid }) => uid === type);
  return html`<tr>
    <td>${type}</td>
    <td>${known === undefined ? html`<code>${documentId}</code>` : html`<a href=${linkTo(['content', pathName(known), documentId], { locale: locale ?? undefined })}>${documentId}</a>`}${locale === null ? '' : ` · ${locale}`}</td>
    <td class="number">${formatCount(position)}</td>
    <td class="wrap">${reason}</td>
    <td>${row === null ? 'no longer exists' : html`<details><summary>show</summary><pre tabindex="0">${JSON.stringify(row, null, 2)}</pre></details>`}</td>
    <td><div class="row">
      <${ActionButton} report=${report} name=${`Retry ${documentId}`} action=${{
        label: 'Retry',
        request: operationRequest('parked', { action: 'retry', items: [item] }),
        command: `varve parked retry ${item}`,
      }} />
      <${ActionButton} report=${report} name=${`Drop ${documentId}`} action=${{
        label: 'Drop',
        request: operationRequest('parked', { action: 'drop', items: [item] }),
        command: `varve parked drop ${item}`,
        destroys: { what: DROPPED, name: documentId },
      }} />
    </div></td>
  </tr>`;
}

function ForeignEvents({ events }: { readonly events: readonly ForeignEvent[] }) {
  return html`<h3>Skipped events of other programs</h3>
    <div class="scroll" role="region" aria-label="Skipped events" tabindex="0">
      <table>
        <thead><tr><th class="number">position</th><th>type</th><th>stream</th><th>reason</th></tr></thead>
        <tbody>${events.map(({ position, type, stream, reason }) => html`<tr key=${position}><td class="number">${formatCount(position)}</td><td>${type}</td><td>${stream}</td><td class="wrap">${reason}</td></tr>`)}</tbody>
      </table>
    </div>`;
}
