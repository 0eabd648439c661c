import { useRef, useState } from 'preact/hooks';
import { formatCount } from './format.ts';
import { HowToSend } from './how-to-send.ts';
import { html } from './html.ts';
import { state } from './live.ts';
import { operationRequest } from './operations.ts';
import { runVerification, VerificationResult, type VerificationState } from './verification.ts';

/** The head of the hash chain: a proof of the whole history. The button checks that the log still has it, and every event. */
export function ChainCard() {
  const log = state.value?.log;
  const [written, setWritten] = useState<string>();
  const [result, setResult] = useState<VerificationState>();
  const stop = useRef<AbortController>(undefined);
  if (log === undefined) return null;
  const current = log.head === null ? '' : `${log.head.position}:${log.head.chain}`;
  const head = (written ?? current).trim();
  const request = operationRequest('verify', head === '' ? {} : { head });
  const command = head === '' ? 'varve verify' : `varve verify --head ${head}`;
  const isRunning = result?.isRunning === true;
  const submit = (event: Event) => {
    event.preventDefault();
    stop.current = new AbortController();
    // Never rejects.
    void runVerification(request, setResult, stop.current.signal);
  };
  return html`<section class="card" aria-label="Hash chain">
    <h2>Hash chain</h2>
    ${
      log.head === null
        ? html`<p>This log has no hash chain. A verification checks the digest of every event, and gaps in streams.</p>`
        : html`<p>Head at position ${formatCount(log.head.position)}: <code class="head">${current}</code></p>
      <p class="quiet">Record it in another place. It covers the whole history up to its position: with it you can find out later whether an event was changed, removed or moved.</p>`
    }
    <form onSubmit=${submit}>
      ${
        log.head !== null &&
        html`<label for="head">Head to check: the current one, or one that you recorded</label>
        <input id="head" class="wide-field" spellcheck=${false} autocomplete="off" value=${written ?? current}
          onInput=${(event: Event) => setWritten((event.target as HTMLInputElement).value)} />`
      }
      <div class="row">
        <button type="submit" class="primary" disabled=${isRunning}>${isRunning ? 'Verifying…' : 'Verify the log'}</button>
        ${isRunning && html`<button type="button" onClick=${() => stop.current?.abort()}>Stop</button>`}
      </div>
    </form>
    ${result !== undefined && html`<${VerificationResult} result=${result} />`}
    <${HowToSend} request=${request} command=${command} />
  </section>`;
}
