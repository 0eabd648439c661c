import { useState } from 'preact/hooks';
import { ActionButton, type Outcome, OutcomeLine } from './action.ts';
import { formatCount, formatMoment } from './format.ts';
import { HowToSend } from './how-to-send.ts';
import { html } from './html.ts';
import { AddEntries, EntriesTable } from './release-entries.ts';
import { localTime, NO_TIME, type ReleaseTime, TimeFields, timeCommand, timeData } from './release-time.ts';
import { linkTo } from './route.ts';
import type { ListedRelease } from './server.ts';
import { useAnswer } from './use-answer.ts';

const PATH = '/_varve/releases';

/** One release: its state, its entries, and what can be done with it. */
export function ReleaseCard({ id }: { readonly id: string }) {
  const path = `${PATH}/${encodeURIComponent(id)}`;
  const { data: release, problem, again } = useAnswer<ListedRelease>(path);
  const [outcome, setOutcome] = useState<Outcome>();
  const [changes, setChanges] = useState(0);
  const report = (found: Outcome) => {
    setOutcome(found);
    setChanges(changes + 1);
    again();
  };
  const isDeleted = outcome?.action.label === 'Delete' && !('problem' in outcome);
  const back = html`<p><a href=${linkTo(['releases'])}>All releases</a></p>`;
  if (isDeleted)
    return html`<section class="card">${back}<p role="status" class="good">The release is deleted. Its entries stay as they are.</p></section>`;
  if (problem !== null)
    return html`<section class="card">${back}<p class="bad" role="alert">${problem}</p></section>`;
  if (release === undefined) return html`<p class="quiet" role="status">Loading…</p>`;
  const isPending = release.releasedAt === null;
  return html`<section class="card" aria-label="Release">${back}
      <${Head} release=${release} />
      ${isPending && html`<${Actions} key=${release.scheduledAt} release=${release} report=${report} />`}
      <${OutcomeLine} outcome=${outcome} />
      <${HowToSend} request=${{ method: 'GET', path }} command=${`varve release show ${release.id}`} />
    </section>
    <section class="card" aria-label="Entries">
      <h2>Entries</h2>
      <${EntriesTable} key=${changes} id=${release.id} isPending=${isPending} report=${report} />
      ${isPending && html`<${AddEntries} id=${release.id} report=${report} />`}
    </section>`;
}

function Head({ release }: { readonly release: ListedRelease }) {
  const { name, status, scheduledAt, timezone, releasedAt, lateMs, problems } = release;
  return html`<h2>${name} <span class=${`badge ${status === 'done' ? 'draft' : status === 'blocked' || status === 'failed' ? 'modified' : ''}`}>${status}</span></h2>
    <dl class="headers">
      <div><dt>time</dt><dd>${scheduledAt === null ? 'none: it waits until somebody publishes it' : `${formatMoment(scheduledAt)}${timezone === null ? '' : ` (chosen in ${timezone})`}`}</dd></div>
      ${releasedAt !== null && html`<div><dt>carried out</dt><dd>${formatMoment(releasedAt)}${lateMs === null ? ', by hand' : `, ${formatCount(lateMs)} ms late`}</dd></div>`}
    </dl>
    ${
      problems.length > 0 &&
      html`<div class="notice wrong"><p><strong>${status === 'failed' ? 'Nothing was published, because these entries were refused:' : 'It is blocked: these entries would be refused, and then nothing is published.'}</strong></p>
        <ul class="links">${problems.map(({ contentType, entryDocumentId, locale, reason }, i) => html`<li key=${i}><code>${contentType}</code> ${entryDocumentId}${locale === null ? '' : ` (${locale})`}: ${reason}</li>`)}</ul></div>`
    }`;
}

type ActionsProps = { readonly release: ListedRelease; readonly report: (outcome: Outcome) => void };

function Actions({ release, report }: ActionsProps) {
  const { id, name, scheduledAt, timezone, actions } = release;
  const [time, setTime] = useState<ReleaseTime>(
    scheduledAt === null ? NO_TIME : localTime(scheduledAt, timezone),
  );
  const path = `${PATH}/${id}`;
  const put = (data: object) => ({ method: 'PUT', path, body: { data: { name, ...data } } });
  return html`<div class="row">
      <${TimeFields} time=${time} change=${setTime} />
      <${ActionButton} isDisabled=${time.at === ''} report=${report} action=${{ label: 'Set the time', request: put(timeData(time)), command: `varve release change ${id}${timeCommand(time)}` }} />
      ${scheduledAt !== null && html`<${ActionButton} report=${report} action=${{ label: 'Cancel the time', request: put({ scheduledAt: null }), command: `varve release cancel ${id}` }} />`}
    </div>
    <div class="row">
      <${ActionButton} isPrimary=${true} isDisabled=${actions.meta.count === 0} report=${report} action=${{ label: 'Publish now', request: { method: 'POST', path: `${path}/publish` }, command: `varve release publish ${id}` }} />
      <${ActionButton} report=${report} action=${{ label: 'Delete', request: { method: 'DELETE', path }, command: `varve release delete ${id}`, destroys: { what: 'The release is deleted. Its entries stay as they are.', name } }} />
    </div>`;
}
