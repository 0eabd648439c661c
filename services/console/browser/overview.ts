import { EventTable } from './event-table.ts';
import { html } from './html.ts';
import { events, samples, state } from './live.ts';
import { Pipeline } from './pipeline.ts';
import { Plots } from './plots.ts';
import { Processes } from './processes.ts';
import type { ServerState } from './server.ts';
import { isOpen } from './session.ts';
import { Warning } from './warning.ts';
import { Welcome } from './welcome.ts';

const SHOWN_EVENTS = 12;

/** Shows that all is right or not, the pipeline from a write to a reader, the last hour, the processes and the newest events. */
export function Overview() {
  const now = state.value;
  if (now === null) return html`<p class="quiet" role="status">Asking the server…</p>`;
  return html`<h1 class="hidden">Overview</h1>
    <${Sentence} now=${now} />
    <${Pipeline} now=${now} />
    <${Plots} samples=${samples.value} />
    <${Processes} processes=${now.processes} />
    <section class="card">
      <h2>Latest events</h2>
      <${EventTable} events=${events.value.slice(0, SHOWN_EVENTS)} />
    </section>
    ${isOpen.value && html`<${Welcome} />`}
    <${LeftOut} now=${now} />`;
}

function Sentence({ now: { summary, conditions } }: { readonly now: ServerState }) {
  const [first, ...others] = conditions;
  return html`<section class=${`card sentence ${summary.level}`} aria-label="Is all right?" role="status">
    ${first === undefined ? html`<p>${summary.text}</p>` : html`<${Warning} condition=${first} />`}
    ${others.map((condition) => html`<${Warning} condition=${condition} />`)}
  </section>`;
}

function LeftOut({ now: { schemaWarnings = [], codeNotes = [] } }: { readonly now: ServerState }) {
  if (schemaWarnings.length + codeNotes.length === 0) return null;
  return html`<section class="card">
    <h2>Not as in the project</h2>
    <ul>
      ${schemaWarnings.map(({ file, path, message, action }) => html`<li><code>${file} ${path}</code> ${message}: ${action}</li>`)}
      ${codeNotes.map((note) => html`<li>${note}</li>`)}
    </ul>
  </section>`;
}
