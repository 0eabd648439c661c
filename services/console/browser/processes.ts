import { formatBytes, formatCount, formatMoment, formatSeconds } from './format.ts';
import { html } from './html.ts';
import type { ServerProcess } from './server.ts';

/** A process that was silent for so long has ended, is paused, or does not reach the leader. */
const SILENT_SECONDS = 10;

/** The processes of the log. The one that answers comes first. */
export function Processes({ processes }: { readonly processes: readonly ServerProcess[] }) {
  return html`<section class="card">
    <h2>Processes</h2>
    <div class="scroll" role="region" aria-label="Processes" tabindex="0">
      <table>
        <thead>
          <tr><th>process</th><th>address</th><th>role</th><th>version</th><th class="number">position</th><th class="number">lag</th>
            <th class="number">up</th><th class="number">memory</th><th>state</th></tr>
        </thead>
        <tbody>${processes.map((process) => html`<${ProcessRow} key=${`${process.host} ${process.pid}`} process=${process} />`)}</tbody>
      </table>
    </div>
  </section>`;
}

function ProcessRow({ process }: { readonly process: ServerProcess }) {
  const { role, host, pid, address, version, epoch, position, lagSeconds, startedAt, memoryBytes } = process;
  const up = (Date.now() - Date.parse(startedAt)) / 1_000;
  return html`<tr>
    <td>${role} ${pid} <span class="quiet">on ${host}</span></td>
    <td class="quiet">${address}</td>
    <td>${epoch === null ? (role === 'api' ? 'reads' : 'standby') : html`<span class="badge">leader · epoch ${epoch}</span>`}</td>
    <td>${version}</td>
    <td class="number">${formatCount(position)}</td>
    <td class="number">${lagSeconds === 0 ? '0' : formatSeconds(lagSeconds)}</td>
    <td class="number" title=${formatMoment(startedAt)}>${formatSeconds(Math.max(60, up))}</td>
    <td class="number">${formatBytes(memoryBytes)}</td>
    <td>${stateOf(process)}</td>
  </tr>`;
}

function stateOf({ isReady, reason, silentSeconds }: ServerProcess) {
  if (silentSeconds >= SILENT_SECONDS)
    return html`<span class="light lost">silent for ${formatSeconds(silentSeconds)}</span>`;
  if (!isReady) return html`<span class="light lost">${reason ?? 'not ready'}</span>`;
  return html`<span class="light live">${reason === null ? 'ready' : `ready: ${reason}`}</span>`;
}
