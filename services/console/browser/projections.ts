import { useState } from 'preact/hooks';
import { ActionButton, type Outcome, OutcomeLine } from './action.ts';
import { formatBytes, formatCount, formatSeconds, UNKNOWN } from './format.ts';
import { html } from './html.ts';
import { refreshState, state } from './live.ts';
import { operationRequest } from './operations.ts';
import { ParkedCard } from './parked.ts';
import { RebuildCard } from './rebuild-card.ts';
import type { ListedGeneration, Projection, ServerState } from './server.ts';
import { VerificationCard } from './verification.ts';

/** The read model: projections, generations, rebuilds, verifications, and documents that the index refused. */
export function ProjectionsPart() {
  const now = state.value;
  if (now === null) return html`<p class="quiet" role="status">Asking the server…</p>`;
  if (now.projections === undefined)
    return html`<section class="card empty"><h1>Projections</h1>
      <p>This process has no read model of its own. Open the console of a <code>varve project</code> or <code>varve serve</code>.</p></section>`;
  return html`<h1 class="hidden">Projections</h1>
    <${ProjectionTable} projections=${now.projections} />
    <${GenerationsCard} now=${now} />
    <${RebuildCard} rebuild=${now.rebuild ?? null} />
    <${VerificationCard} />
    <${ParkedCard} />`;
}

function ProjectionTable({ projections }: { readonly projections: readonly Projection[] }) {
  return html`<section class="card">
    <h2>Projections</h2>
    <div class="scroll" role="region" aria-label="Projections" tabindex="0">
      <table>
        <thead><tr><th>projection</th><th class="number">generation</th><th class="number">position</th><th class="number">lag</th>
          <th class="number">backlog</th><th class="number">parked</th><th class="number">rows</th><th class="number">size</th></tr></thead>
        <tbody>${projections.map((each) => html`<${ProjectionRow} key=${each.name} projection=${each} />`)}</tbody>
      </table>
    </div>
  </section>`;
}

function ProjectionRow({ projection }: { readonly projection: Projection }) {
  const { name, kind, generation, position, lagEvents, lagSeconds, backlog, backlogSeconds } = projection;
  const { parked, documents, bytes } = projection;
  const isLate = lagEvents > 0;
  return html`<tr>
    <td>${name} <span class="quiet">${kind}</span></td>
    <td class="number">${generation}</td>
    <td class="number">${formatCount(position)}</td>
    <td class=${`number ${isLate ? 'bad' : ''}`}>${isLate ? `${formatCount(lagEvents)} events, ${formatSeconds(lagSeconds)}` : '0'}</td>
    <td class=${`number ${backlog > 0 ? 'bad' : ''}`}>${backlog > 0 ? `${formatCount(backlog)}, ${formatSeconds(backlogSeconds)}` : '0'}</td>
    <td class=${`number ${parked > 0 ? 'bad' : ''}`}>${formatCount(parked)}</td>
    <td class="number">${documents === null ? 'does not answer' : formatCount(documents)}</td>
    <td class="number">${bytes === null ? (kind === 'embedded' ? 'in memory' : UNKNOWN) : formatBytes(bytes)}</td>
  </tr>`;
}

const STATES = {
  live: 'serves',
  kept: 'kept for a rollback, which applies the log first',
  building: 'is being built',
} as const;

function GenerationsCard({ now }: { readonly now: ServerState }) {
  const { generations = [] } = now;
  const [outcome, setOutcome] = useState<Outcome>();
  const report = (found: Outcome) => {
    setOutcome(found);
    // The light of the page shows that the server does not answer.
    void refreshState().catch(() => {});
  };
  const elsewhere = isLedElsewhere(now);
  const kept = generations.findLast(({ state: each }) => each === 'kept');
  const live = generations.find(({ state: each }) => each === 'live');
  const words = elsewhere
    ? ['The generation that the leader keeps', 'the one that serves', 'The kept generation of the leader']
    : [`Generation ${kept?.number}`, `generation ${live?.number}`, `Generation ${kept?.number}`];
  return html`<section class="card" aria-label="Generations">
    <h2>Generations</h2>
    <div class="scroll" role="region" aria-label="Table of generations" tabindex="0">
      <table class="generations">
        <thead><tr><th>generation</th><th>state</th><th>made from</th></tr></thead>
        <tbody>${generations.map((each) => html`<${GenerationRow} key=${each.number} generation=${each} />`)}</tbody>
      </table>
    </div>
    ${elsewhere && html`<p class="elsewhere">These are the generations of this process, which is not the leader. The buttons ask the leader, whose console lists its own.</p>`}
    ${
      kept === undefined && !elsewhere
        ? html`<p class="empty">No generation is kept. A rebuild makes the next one, and keeps this one for a rollback.</p>`
        : html`<${KeptActions} words=${words} report=${report} />`
    }
    <${OutcomeLine} outcome=${outcome} />
  </section>`;
}

/** Returns whether another process has the generations: on Elasticsearch the leader makes the indices of all. */
function isLedElsewhere({ projections = [], processes: [own] }: ServerState): boolean {
  return own?.epoch === null && projections.some(({ kind }) => kind === 'elasticsearch');
}

type KeptProps = { readonly words: readonly string[]; readonly report: (outcome: Outcome) => void };

/** `words`: names of the generation that is kept, of the live one, and of the one that a drop removes. */
function KeptActions({ words: [kept, live, dropped], report }: KeptProps) {
  return html`<div class="row">
    <${ActionButton} report=${report} action=${{
      label: 'Roll back',
      request: operationRequest('rollback', { confirm: 'rollback' }),
      command: 'varve rollback',
      destroys: {
        what: `${kept} serves instead of ${live}, which is kept. No write is lost.`,
        name: 'rollback',
      },
    }} />
    <${ActionButton} report=${report} action=${{
      label: 'Drop the kept generation',
      request: operationRequest('drop', { confirm: 'drop' }),
      command: 'varve drop',
      destroys: {
        what: `${dropped} is removed. A rollback is not possible until the next rebuild.`,
        name: 'drop',
      },
    }} />
  </div>`;
}

function GenerationRow({ generation }: { readonly generation: ListedGeneration }) {
  const { number, state: found, source } = generation;
  return html`<tr>
    <td>${number}</td>
    <td>${found === 'live' ? html`<span class="badge">live</span>` : html`<span class="badge draft">${found}</span>`} ${STATES[found]}</td>
    <td>${source === 'log' ? 'the log' : 'a copy of the live graph'}</td>
  </tr>`;
}
