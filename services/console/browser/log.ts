import { useEffect, useRef, useState } from 'preact/hooks';
import { read } from './api.ts';
import { ChainCard } from './chain-card.ts';
import { EventCard } from './event-card.ts';
import { EventTable } from './event-table.ts';
import { followLog } from './follow-log.ts';
import { HowToSend } from './how-to-send.ts';
import { html } from './html.ts';
import { events as newestEvents } from './live.ts';
import { change, route } from './route.ts';
import { shellWord } from './send-lines.ts';
import type { LogEvent } from './server.ts';
import { useAnswer } from './use-answer.ts';

/** Events of a page, and events that the tail keeps. */
const LIMIT = 50;
const MOST_KEPT = 1_000;
const CONDITIONS = ['type', 'document', 'actor', 'since', 'until'] as const;

type Query = Readonly<Record<string, string>>;

/** The log: the newest events as they are stored, filters, one event with what it did, and the head of the hash chain. */
export function LogPart() {
  const [position] = route.value.rest;
  const query = conditionsIn(route.value.query);
  return html`<h1 class="hidden">Log</h1>
    ${position !== undefined && html`<${EventCard} key=${position} position=${position} />`}
    <${ChainCard} />
    <${Tail} key=${JSON.stringify(query)} query=${query} />`;
}

/** Returns the conditions that the address of the page has. */
function conditionsIn(query: URLSearchParams): Query {
  return Object.fromEntries(
    CONDITIONS.flatMap((name) => (query.get(name) ? [[name, query.get(name) ?? '']] : [])),
  );
}

function Tail({ query }: { readonly query: Query }) {
  const [events, setEvents] = useState<readonly LogEvent[]>([]);
  const [before, setBefore] = useState<string | null>(null);
  const [isRead, setRead] = useState(false);
  const [isLive, setLive] = useState(true);
  const [olderProblem, setOlderProblem] = useState<string | null>(null);
  const kept = useRef(events);
  kept.current = events;
  const add = (found: readonly LogEvent[]) => setEvents((known) => [...found, ...known].slice(0, MOST_KEPT));
  const path = pathOf({ limit: String(LIMIT), ...query });
  const { latest: first, problem } = useAnswer<readonly LogEvent[]>(path);
  useEffect(() => {
    if (first === undefined) return;
    setEvents(first.data);
    setBefore(first.meta.before ?? null);
    setRead(true);
  }, [first]);
  useEffect(() => {
    if (!isLive || !isRead) return;
    // An event may be stored between the first page and the stream.
    const newest = () => kept.current[0]?.position;
    return followLog({ query: () => ({ limit: String(LIMIT), ...query }), newest, seen: add });
  }, [isLive, isRead]);
  const older = async () => {
    const earlier = pathOf({ limit: String(LIMIT), ...query, before: before ?? '' });
    const { data, meta } = await read<readonly LogEvent[]>(earlier);
    setEvents((known) => [...known, ...data]);
    setBefore(meta.before ?? null);
    setOlderProblem(null);
  };
  return html`<section class="card" aria-label="History">
    <h2>Events</h2>
    <${Conditions} query=${query} isLive=${isLive} setLive=${setLive} />
    ${(problem ?? olderProblem) !== null && html`<p class="bad" role="alert">${problem ?? olderProblem}</p>`}
    ${isRead && html`<${EventTable} events=${events} />`}
    ${before !== null && html`<div class="row"><button type="button" onClick=${() => older().catch((error: Error) => setOlderProblem(error.message))}>Search earlier events</button></div>`}
    <${HowToSend} request=${{ method: 'GET', path }} command=${commandOf(query)} />
  </section>`;
}

function pathOf(query: Query): string {
  return `/_varve/events?${new URLSearchParams(query)}`;
}

function commandOf(query: Query): string {
  const options = Object.entries(query).map(([name, value]) => `--${name} ${shellWord(value)}`);
  return ['varve events', `--last ${LIMIT}`, ...options, '--follow'].join(' ');
}

type ConditionsProps = {
  readonly query: Query;
  readonly isLive: boolean;
  readonly setLive: (isLive: boolean) => void;
};

function Conditions({ query, isLive, setLive }: ConditionsProps) {
  const form = useRef<HTMLFormElement>(null);
  const apply = (event: Event) => {
    event.preventDefault();
    if (form.current === null) return;
    const data = new FormData(form.current);
    const text = (name: string) => String(data.get(name) ?? '').trim();
    change({
      ...Object.fromEntries(['type', 'document', 'actor'].map((name) => [name, text(name)])),
      since: instantOf(text('since')),
      until: instantOf(text('until')),
    });
  };
  const clear = () => change(Object.fromEntries(CONDITIONS.map((name) => [name, undefined])));
  const known = [...new Set(newestEvents.value.map(({ type }) => type))].sort();
  return html`<form ref=${form} onSubmit=${apply} class="row conditions">
    <label>event <input name="type" list="event-types" size="16" defaultValue=${query['type'] ?? ''} /></label>
    <datalist id="event-types">${known.map((type) => html`<option value=${type}></option>`)}</datalist>
    <label>document <input name="document" size="24" spellcheck=${false} defaultValue=${query['document'] ?? ''} /></label>
    <label>by <input name="actor" size="12" placeholder="name, id or kind" defaultValue=${query['actor'] ?? ''} /></label>
    <label>from <input name="since" type="datetime-local" step="1" defaultValue=${localOf(query['since'])} /></label>
    <label>to <input name="until" type="datetime-local" step="1" defaultValue=${localOf(query['until'])} /></label>
    <button type="submit" class="primary">Filter</button>
    ${Object.keys(query).length > 0 && html`<button type="button" onClick=${clear}>All events</button>`}
    <label><input type="checkbox" checked=${isLive} onChange=${() => setLive(!isLive)} /> live</label>
  </form>`;
}

/** Returns the instant of a field in the time zone of the browser. */
function instantOf(text: string): string {
  return text === '' ? '' : new Date(text).toISOString();
}

/** Returns an instant in the form of such a field. */
function localOf(instant: string | undefined): string {
  const date = new Date(instant ?? '');
  if (Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}
