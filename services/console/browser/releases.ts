import { useState } from 'preact/hooks';
import { ActionButton, type Outcome, OutcomeLine } from './action.ts';
import { formatCount, formatMoment, shorten } from './format.ts';
import { HowToSend } from './how-to-send.ts';
import { html } from './html.ts';
import { Pager } from './pager.ts';
import { ReleaseCalendar } from './release-calendar.ts';
import { ReleaseCard } from './release-card.ts';
import { NO_TIME, type ReleaseTime, TimeFields, timeCommand, timeData } from './release-time.ts';
import { linkTo, route } from './route.ts';
import { shellWord } from './send-lines.ts';
import type { ListedRelease } from './server.ts';
import { useAnswer } from './use-answer.ts';

const PATH = '/_varve/releases';
const PAGE_SIZE = 100;

/** Releases: a list or a calendar, a new one, and one with its entries. */
export function ReleasesPart() {
  const { rest, query } = route.value;
  const [changes, setChanges] = useState(0);
  const [id] = rest;
  if (id !== undefined) return html`<h1 class="hidden">Release</h1><${ReleaseCard} key=${id} id=${id} />`;
  const changed = () => setChanges(changes + 1);
  return html`<h1 class="hidden">Releases</h1>
    <${ListCard} key=${changes} isCalendar=${query.get('view') === 'calendar'} page=${Number(query.get('page') ?? 1)} />
    <${AddCard} changed=${changed} />`;
}

type ListProps = { readonly isCalendar: boolean; readonly page: number };

function ListCard({ isCalendar, page }: ListProps) {
  const path = `${PATH}?pageSize=${PAGE_SIZE}&page=${page}`;
  const { data: releases, meta, problem } = useAnswer<readonly ListedRelease[]>(path);
  const tab = (view: string, title: string) =>
    html`<a href=${linkTo(['releases'], { view })} aria-current=${isCalendar === (view === 'calendar') ? 'page' : undefined}>${title}</a>`;
  return html`<section class="card" aria-label="Releases">
    <h2>Releases</h2>
    <nav class="tabs" aria-label="Views of releases">${tab('', 'List')}${tab('calendar', 'Calendar')}</nav>
    ${problem !== null && html`<p class="bad" role="alert">${problem}</p>`}
    ${releases === undefined && problem === null && html`<p class="quiet" role="status">Loading…</p>`}
    ${releases?.length === 0 && html`<p class="empty">There are no releases. A release publishes and unpublishes several entries together: at a time, or when you say so. Add one below, and then its entries.</p>`}
    ${releases !== undefined && releases.length > 0 && (isCalendar ? html`<${ReleaseCalendar} releases=${releases} />` : html`<${ReleaseTable} releases=${releases} />`)}
    <${Pager} meta=${meta} before="Newer" after="Older" />
    <${HowToSend} request=${{ method: 'GET', path }} command="varve release list" />
  </section>`;
}

function ReleaseTable({ releases }: { readonly releases: readonly ListedRelease[] }) {
  return html`<div class="scroll" role="region" aria-label="Table of releases" tabindex="0">
    <table class="releases">
      <thead><tr><th>name</th><th>state</th><th class="number">entries</th><th>time</th><th>late</th></tr></thead>
      <tbody>${releases.map((release) => html`<${ReleaseRow} key=${release.id} release=${release} />`)}</tbody>
    </table>
  </div>`;
}

function ReleaseRow({ release }: { readonly release: ListedRelease }) {
  const { id, name, status, actions, scheduledAt, releasedAt, lateMs, problems } = release;
  const isBad = status === 'blocked' || status === 'failed';
  const at = scheduledAt ?? releasedAt;
  return html`<tr>
    <td><a href=${linkTo(['releases', String(id)])}>${shorten(name, 60)}</a></td>
    <td><span class=${isBad ? 'bad' : status === 'done' ? 'quiet' : 'good'}>${status ?? 'not checked'}</span>${problems.length > 0 && html` <span class="quiet">refused: ${formatCount(problems.length)}</span>`}</td>
    <td class="number">${formatCount(actions.meta.count)}</td>
    <td>${at === null ? html`<span class="quiet">when somebody publishes it</span>` : formatMoment(at)}</td>
    <td>${lateMs === null ? '' : `${formatCount(lateMs)} ms`}</td>
  </tr>`;
}

function AddCard({ changed }: { readonly changed: () => void }) {
  const [name, setName] = useState('');
  const [time, setTime] = useState<ReleaseTime>(NO_TIME);
  const [outcome, setOutcome] = useState<Outcome>();
  const report = (found: Outcome) => {
    setOutcome(found);
    if ('problem' in found) return;
    setName('');
    setTime(NO_TIME);
    changed();
  };
  const request = { method: 'POST', path: PATH, body: { data: { name, ...timeData(time) } } };
  const command = `varve release create ${shellWord(name)}${timeCommand(time)}`;
  return html`<section class="card" aria-label="New release">
    <h2>New release</h2>
    <div class="row">
      <label>name <input name="release-name" size="24" value=${name} onInput=${(event: Event) => setName((event.target as HTMLInputElement).value)} /></label>
      <${TimeFields} time=${time} change=${setTime} />
      <${ActionButton} isPrimary=${true} isDisabled=${name.trim() === ''} report=${report} action=${{ label: 'Add', request, command }} />
    </div>
    <${OutcomeLine} outcome=${outcome} />
  </section>`;
}
