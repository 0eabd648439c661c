import { useEffect, useState } from 'preact/hooks';
import { ActionButton, type Outcome, OutcomeLine } from './action.ts';
import type { Request } from './api.ts';
import { Differences, type ListedDifference } from './differences.ts';
import { formatCount, formatSeconds, formatShort, formatTime } from './format.ts';
import { HowToSend } from './how-to-send.ts';
import { html } from './html.ts';
import { refreshState } from './live.ts';
import { operationRequest, streamOperation } from './operations.ts';
import { noteInterrupted, rebuilding, requestRebuild } from './rebuilding.ts';
import type { ListedRebuild } from './server.ts';
import { types } from './session.ts';

type Form = {
  readonly source: 'copy' | 'graph';
  readonly type: string;
  readonly world: string;
  readonly maxRate: string;
  readonly accept: boolean;
};

const FIRST: Form = { source: 'copy', type: '', world: '', maxRate: '', accept: false };

/** A rebuild: the form that begins it, its progress, and the differences that stopped it. */
export function RebuildCard({ rebuild: listed }: { readonly rebuild: ListedRebuild | null }) {
  const [form, setForm] = useState(FIRST);
  const { isRunning, last, problem } = rebuilding.value;
  const rebuild = newest(listed, last, isRunning);
  const isOpen = rebuild !== null && rebuild.phase !== 'done' && rebuild.phase !== 'cancelled';
  const request = requestOf(form);
  const command = commandOf(form);
  const submit = (event: Event) => {
    event.preventDefault();
    // Never rejects.
    void requestRebuild(request);
  };
  return html`<section class="card rebuild" aria-label="Rebuild">
    <h2>Rebuild</h2>
    <p>Makes the next generation next to the live one, compares both, and switches over if they are equal. Reads and writes continue.</p>
    ${rebuild !== null && html`<${Progress} rebuild=${rebuild} />`}
    ${problem !== null && html`<p class="bad" role="alert">${problem}</p>`}
    ${isOpen && html`<${Open} rebuild=${rebuild} isRunning=${isRunning} />`}
    ${
      !isOpen &&
      html`<form onSubmit=${submit}>
        <${Choices} form=${form} setForm=${setForm} />
        <div class="row"><button class="primary" type="submit" disabled=${isRunning}>${isRunning ? 'Rebuilding…' : 'Rebuild'}</button>
          <span class="quiet">Keep this tab open: a rebuild pauses when it is closed, and continues with the next request.</span></div>
        <${HowToSend} request=${request} command=${command} />
      </form>`
    }
  </section>`;
}

/**
 * Returns the later report of two about rebuilds. The state is asked for only now and then. It has no rebuild that another process, the
 * leader, runs for this one.
 */
function newest(
  listed: ListedRebuild | null,
  reported: ListedRebuild | null,
  isRunning: boolean,
): ListedRebuild | null {
  if (listed === null || reported === null) return reported ?? listed;
  const later = Date.parse(listed.startedAt) - Date.parse(reported.startedAt);
  return later > 0 || (later === 0 && !isRunning) ? listed : reported;
}

type ChoicesProps = { readonly form: Form; readonly setForm: (form: Form) => void };

function Choices({ form, setForm }: ChoicesProps) {
  const set = (name: keyof Form) => (event: Event) => {
    const field = event.target as HTMLInputElement;
    setForm({ ...form, [name]: field.type === 'checkbox' ? field.checked : field.value });
  };
  return html`<div class="row">
      <label>from <select name="source" value=${form.source} onChange=${set('source')}>
        <option value="copy">a copy of the graph, compared with the log</option>
        <option value="graph">the log, replayed</option>
      </select></label>
      <label>type <select name="type" value=${form.type} onChange=${set('type')}>
        <option value="">all types</option>
        ${types.value.map(({ uid, schema }) => html`<option value=${uid}>${schema.displayName}</option>`)}
      </select></label>
      <label>world <select name="world" value=${form.world} onChange=${set('world')}>
        <option value="">both</option><option>draft</option><option>published</option>
      </select></label>
      <label>at most <input name="maxRate" size="8" inputmode="numeric" placeholder="any" value=${form.maxRate} onInput=${set('maxRate')} /> events a second</label>
      <label><input type="checkbox" name="accept" checked=${form.accept} onChange=${set('accept')} /> switch over in spite of differences</label>
    </div>`;
}

function requestOf({ source, type, world, maxRate, accept }: Form): Request {
  return operationRequest('rebuild', {
    ...(source === 'graph' ? { graph: true } : {}),
    ...(type === '' ? {} : { type }),
    ...(world === '' ? {} : { world }),
    ...(maxRate === '' ? {} : { maxRate }),
    ...(accept ? { accept } : {}),
  });
}

function commandOf({ source, type, world, maxRate, accept }: Form): string {
  return [
    'varve rebuild',
    ...(source === 'graph' ? ['--graph'] : []),
    ...(type === '' ? [] : [`--type ${type}`]),
    ...(world === '' ? [] : [`--world ${world}`]),
    ...(maxRate === '' ? [] : [`--max-rate ${maxRate}`]),
    ...(accept ? ['--accept'] : []),
  ].join(' ');
}

function Progress({ rebuild }: { readonly rebuild: ListedRebuild }) {
  const { generation, phase, wanted, startedAt, message, progress } = rebuild;
  const { done, total, rate, lag } = progress;
  const isEnded = phase === 'done' || phase === 'cancelled';
  const left = rate > 0 ? Math.max(0, total - done) / rate : null;
  const ended = phase === 'done' ? 'serves now' : 'was cancelled';
  return html`<div class="progress">
    <p role="status"><strong>Generation ${generation}</strong> ${isEnded ? ended : `${phase}${wanted === 'pause' ? ', paused' : ''}`},${' '}
      begun ${formatTime(startedAt)}${(message ?? null) === null ? '' : html`: <span class="bad">${message}</span>`}</p>
    ${
      !isEnded &&
      phase !== 'stopped' &&
      html`<progress max=${Math.max(1, total)} value=${done} aria-label="Progress of this phase"></progress>
        <p class="quiet">${formatCount(done)} of ${formatCount(total)}, ${formatShort(rate)} a second,${' '}
          ${left === null ? 'time left not known yet' : `${formatSeconds(left)} left`}, ${formatCount(lag)} events behind the log</p>`
    }
  </div>`;
}

/** A rebuild that has not ended: pause, cancel, continue, or switch over in spite of its differences. */
function Open({ rebuild, isRunning }: { readonly rebuild: ListedRebuild; readonly isRunning: boolean }) {
  const [outcome, setOutcome] = useState<Outcome>();
  const report = (found: Outcome) => {
    setOutcome(found);
    if (!('problem' in found)) noteInterrupted(found.answer);
    // The light of the page shows that the server does not answer.
    void refreshState().catch(() => {});
  };
  const again = { ...rebuild.scope };
  const isStopped = rebuild.phase === 'stopped';
  // Never rejects.
  const resume = (accept: boolean) => void requestRebuild(operationRequest('rebuild', { ...again, accept }));
  return html`${isStopped && html`<${StoppedBy} />`}
    <div class="row">
      ${isStopped && html`<button type="button" disabled=${isRunning} onClick=${() => resume(true)}>Switch over in spite of the differences</button>`}
      ${!isStopped && !isRunning && html`<button type="button" onClick=${() => resume(false)}>Continue</button>`}
      ${
        !isStopped &&
        (isRunning || rebuild.wanted !== 'pause') &&
        html`<${ActionButton} report=${report} action=${{
          label: 'Pause',
          request: operationRequest('interrupt', { wanted: 'pause' }),
          command: 'varve rebuild --pause',
        }} />`
      }
      <${ActionButton} report=${report} action=${{
        label: 'Cancel the rebuild',
        request: operationRequest('interrupt', { wanted: 'cancel' }),
        command: 'varve rebuild --cancel',
        destroys: {
          what: `Everything that the rebuild has made of generation ${rebuild.generation} is removed. The live generation stays.`,
          name: `generation ${rebuild.generation}`,
        },
      }} />
    </div>
    <${OutcomeLine} outcome=${outcome} />`;
}

/** Lists the differences that stopped the rebuild. */
function StoppedBy() {
  const [found, setFound] = useState<readonly ListedDifference[]>([]);
  const [problem, setProblem] = useState('');
  const request = operationRequest('rebuild-differences');
  useEffect(() => {
    const stop = new AbortController();
    const lines: ListedDifference[] = [];
    streamOperation<ListedDifference>(request, (line) => lines.push(line), stop.signal).then(
      () => setFound(lines),
      (error: Error) => !stop.signal.aborted && setProblem(error.message),
    );
    return () => stop.abort();
  }, []);
  return html`${problem !== '' && html`<p class="bad" role="alert">${problem}</p>`}
    <${Differences} found=${found} label="Differences from the live generation" />
    <${HowToSend} request=${request} command="varve rebuild --differences" />`;
}
