import { useState } from 'preact/hooks';
import { moment } from './api.ts';
import { callerRights } from './content-model.ts';
import { formatCount, formatMoment } from './format.ts';
import { html } from './html.ts';
import { state } from './live.ts';
import { asOf, change } from './route.ts';

/** Chooses a moment of the log, for callers who may see the past. The whole content part then shows the content as of that moment. */
export function PastControl() {
  if (callerRights.value?.history !== true) return null;
  const value = asOf();
  const [problem, setProblem] = useState('');
  const choose = (next: string) => {
    setProblem('');
    change({ asOf: next, page: undefined });
  };
  const submit = (event: Event) => {
    event.preventDefault();
    const typed = String(new FormData(event.target as HTMLFormElement).get('moment') ?? '');
    if (typed === '') return choose('');
    const at = new Date(typed);
    if (Number.isNaN(at.getTime())) setProblem('Choose a date and a time.');
    else choose(at.toISOString());
  };
  return html`<section class=${`card past${value === undefined ? '' : ' old'}`} aria-label="Time">
    <div class="row spread"><${Words} value=${value} />
      ${value !== undefined && html`<button type="button" onClick=${() => choose('')}>Back to now</button>`}</div>
    <details open=${value !== undefined}><summary>Show the content of another time</summary>
      <form class="row" onSubmit=${submit}><label>As of <input type="datetime-local" name="moment" step="1" /></label><button type="submit">Show</button></form>
      <${Slider} value=${value} choose=${choose} />
    </details>
    ${problem !== '' && html`<p class="bad" role="alert">${problem}</p>`}
  </section>`;
}

function Words({ value }: { readonly value: string | undefined }) {
  if (value === undefined) return html`<p class="quiet">The content of now.</p>`;
  const { at, position } = momentOf(value) ?? {};
  return html`<p role="status"><strong>The content as of ${/^\d+$/.test(value) ? `position ${formatCount(value)}` : formatMoment(value)}.</strong>
    ${' '}${position !== undefined && `Last event: ${formatCount(position)}${at === undefined ? '' : `, ${formatMoment(at)}`}. `}Nothing can be changed here. Rights and content types are those of now.</p>`;
}

/** Returns what an answer has said about the chosen moment. */
function momentOf(value: string | undefined): typeof moment.value {
  return moment.value?.of === value ? moment.value : null;
}

type SliderProps = { readonly value: string | undefined; readonly choose: (value: string) => void };

/** Chooses a position of the log. Only callers with full access know its end. */
function Slider({ value, choose }: SliderProps) {
  const end = Number(state.value?.log?.position ?? 0);
  const [dragged, setDragged] = useState<string>();
  if (end < 2) return null;
  const known = momentOf(value)?.position;
  const at =
    dragged ??
    (value !== undefined && /^\d+$/.test(value)
      ? value
      : value === undefined
        ? String(end)
        : (known ?? String(end)));
  return html`<label class="row slider">Position <input type="range" min="1" max=${end} value=${at}
      onInput=${(event: Event) => setDragged((event.target as HTMLInputElement).value)}
      onChange=${(event: Event) => {
        setDragged(undefined);
        const next = (event.target as HTMLInputElement).value;
        choose(Number(next) >= end ? '' : next);
      }} /> <span class="count">${formatCount(at)} of ${formatCount(end)}</span></label>`;
}
