import { html } from './html.ts';
import { linkTo, route } from './route.ts';
import type { ListedRelease } from './server.ts';

const MONTH = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric' });
const WEEKDAY = new Intl.DateTimeFormat(undefined, { weekday: 'short' });
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'long' });
const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const WEEK = [0, 1, 2, 3, 4, 5, 6];

/** A month with the releases of each day, in the time zone of the browser. The URL has the month. */
export function ReleaseCalendar({ releases }: { readonly releases: readonly ListedRelease[] }) {
  const first = firstOf(route.value.query.get('month'), releases);
  const [year, month] = [first.getFullYear(), first.getMonth()];
  const monday = new Date(year, month, 1 - ((first.getDay() + 6) % 7));
  const weeks = Math.ceil((((first.getDay() + 6) % 7) + new Date(year, month + 1, 0).getDate()) / 7);
  const dayAt = (n: number) => new Date(monday.getFullYear(), monday.getMonth(), monday.getDate() + n);
  const byDay = Map.groupBy(
    releases.filter((each) => timeOf(each) !== null),
    (each) => new Date(timeOf(each) ?? 0).toDateString(),
  );
  const monthLink = (by: number) =>
    linkTo(['releases'], { view: 'calendar', month: nameOf(new Date(year, month + by, 1)) });
  return html`<div class="row spread month"><a href=${monthLink(-1)}>Month before</a><strong role="status">${MONTH.format(first)}</strong><a href=${monthLink(1)}>Month after</a></div>
    <div class="scroll" role="region" aria-label="Calendar of releases" tabindex="0">
      <table class="calendar">
        <thead><tr>${WEEK.map((n) => html`<th key=${n} scope="col">${WEEKDAY.format(dayAt(n))}</th>`)}</tr></thead>
        <tbody>${Array.from(
          { length: weeks },
          (_, week) =>
            html`<tr key=${week}>${WEEK.map((n) => html`<${Day} key=${n} day=${dayAt(week * 7 + n)} month=${month} releases=${byDay.get(dayAt(week * 7 + n).toDateString()) ?? []} />`)}</tr>`,
        )}</tbody>
      </table>
    </div>
    <p class="quiet">Releases of the list with a time, in the time zone of this browser. Those without a time are in the list.</p>`;
}

type DayProps = { readonly day: Date; readonly month: number; readonly releases: readonly ListedRelease[] };

function Day({ day, month, releases }: DayProps) {
  const sorted = releases.toSorted((a, b) => Date.parse(timeOf(a) ?? '') - Date.parse(timeOf(b) ?? ''));
  return html`<td class=${day.getMonth() === month ? '' : 'quiet'}>
    <span aria-hidden="true">${day.getDate()}</span><span class="hidden">${DAY.format(day)}</span>
    ${
      sorted.length > 0 &&
      html`<ul>${sorted.map(({ id, name, status, ...release }) => html`<li key=${id}><a href=${linkTo(['releases', String(id)])}>${TIME.format(new Date(timeOf(release) ?? 0))} ${name}</a> <span class=${status === 'blocked' || status === 'failed' ? 'bad' : 'quiet'}>${status ?? 'not checked'}</span></li>`)}</ul>`
    }
  </td>`;
}

function timeOf({
  scheduledAt,
  releasedAt,
}: Pick<ListedRelease, 'scheduledAt' | 'releasedAt'>): string | null {
  return scheduledAt ?? releasedAt;
}

/** Returns the first day of the month in the URL, else of the month with the next release, else of this month. */
function firstOf(named: string | null, releases: readonly ListedRelease[]): Date {
  const [, year, month] = /^(\d{4})-(\d\d)$/.exec(named ?? '') ?? [];
  if (year !== undefined) return new Date(Number(year), Number(month) - 1, 1);
  const next = releases
    .filter(({ releasedAt, scheduledAt }) => releasedAt === null && scheduledAt !== null)
    .map((each) => Date.parse(timeOf(each) ?? ''))
    .toSorted((a, b) => a - b)[0];
  const at = new Date(next ?? Date.now());
  return new Date(at.getFullYear(), at.getMonth(), 1);
}

function nameOf(first: Date): string {
  return `${String(first.getFullYear()).padStart(4, '0')}-${String(first.getMonth() + 1).padStart(2, '0')}`;
}
