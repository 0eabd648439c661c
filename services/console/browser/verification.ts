import { useRef, useState } from 'preact/hooks';
import { Differences, type ListedDifference } from './differences.ts';
import { formatCount } from './format.ts';
import { HowToSend } from './how-to-send.ts';
import { html } from './html.ts';
import { operationRequest, streamOperation } from './operations.ts';

type Line = ListedDifference & {
  readonly checked?: number;
  readonly rows?: number;
  readonly events?: number;
  readonly documents?: number;
};

/** Progress or end of a verification. */
export type VerificationState = {
  readonly isRunning: boolean;
  readonly found: readonly ListedDifference[];
  readonly checked: number;
  readonly rows: number;
  readonly waiting: number;
  /** Sentence about the end; null: it has not ended. */
  readonly end: string | null;
  readonly problem: string | null;
};

const NOTHING: VerificationState = {
  isRunning: true,
  found: [],
  checked: 0,
  rows: 0,
  waiting: 0,
  end: null,
  problem: null,
};

/** A verification: each difference as it is found. */
export function VerificationCard() {
  const [isWhole, setWhole] = useState(false);
  const [repair, setRepair] = useState(false);
  const [assets, setAssets] = useState(false);
  const [result, setResult] = useState<VerificationState>();
  const stop = useRef<AbortController>(undefined);
  const name = isWhole ? 'verify' : repair ? 'repair-index' : 'verify-index';
  const data = isWhole ? { ...(repair ? { repair } : {}), ...(assets ? { assets } : {}) } : {};
  const request = operationRequest(name, data);
  const command = `varve verify${repair ? ' --repair' : ''}${isWhole && assets ? ' --assets' : ''}`;
  const begin = (event: Event) => {
    event.preventDefault();
    stop.current = new AbortController();
    // Never rejects.
    void runVerification(request, setResult, stop.current.signal);
  };
  const isRunning = result?.isRunning === true;
  return html`<section class="card" aria-label="Verification">
    <h2>Verification</h2>
    <form onSubmit=${begin}>
      <div class="row">
        <label><input type="radio" name="what" checked=${!isWhole} onChange=${() => setWhole(false)} /> the read index with the graph</label>
        <label><input type="radio" name="what" checked=${isWhole} onChange=${() => setWhole(true)} /> also the graph with the log, and every event</label>
        <label><input type="checkbox" name="repair" checked=${repair} onChange=${() => setRepair(!repair)} /> write wrong entries of the index again</label>
        ${isWhole && html`<label><input type="checkbox" name="assets" checked=${assets} onChange=${() => setAssets(!assets)} /> also uploaded files</label>`}
      </div>
      <div class="row">
        <button type="submit" class="primary" disabled=${isRunning}>${isRunning ? 'Comparing…' : 'Compare'}</button>
        ${isRunning && html`<button type="button" onClick=${() => stop.current?.abort()}>Stop</button>`}
      </div>
      ${result !== undefined && html`<${VerificationResult} result=${result} />`}
      <${HowToSend} request=${request} command=${command} />
    </form>
  </section>`;
}

/** Shows the progress, the end and the differences of a verification. */
export function VerificationResult({
  result: { isRunning, found, checked, rows, waiting, end, problem },
}: {
  readonly result: VerificationState;
}) {
  return html`${isRunning && rows > 0 && html`<progress max=${rows} value=${checked} aria-label="Progress of the comparison"></progress>`}
    <p role="status" class=${end === null ? 'quiet' : found.length === 0 ? 'good' : 'bad'}>${end ?? (isRunning ? 'Comparing…' : '')}</p>
    ${waiting > 0 && html`<p>${formatCount(waiting)} documents could not be compared: they are still being written.</p>`}
    ${problem !== null && html`<p class="bad" role="alert">${problem}</p>`}
    <${Differences} found=${found} label="Differences" />`;
}

/** Runs a verification, and shows what it finds as it comes. Never rejects. */
export async function runVerification(
  request: ReturnType<typeof operationRequest>,
  show: (result: VerificationState) => void,
  signal: AbortSignal,
): Promise<void> {
  let result = NOTHING;
  let events: number | undefined;
  show(result);
  try {
    const isWhole = await streamOperation<Line>(
      request,
      (line) => {
        if (line.kind === 'summary') events = line.events;
        result = added(result, line);
        show(result);
      },
      signal,
    );
    const end = isWhole ? sentenceOf(result, events) : null;
    const problem = isWhole ? null : 'The answer was cut off: compare again.';
    show({ ...result, isRunning: false, end, problem });
  } catch (error) {
    const problem = signal.aborted ? 'The comparison was stopped.' : (error as Error).message;
    show({ ...result, isRunning: false, problem });
  }
}

function added(result: VerificationState, line: Line): VerificationState {
  switch (line.kind) {
    case 'progress':
      return { ...result, checked: line.checked ?? 0, rows: line.rows ?? 0 };
    case 'summary':
      // A progress report counts both sides of a row.
      return { ...result, rows: 2 * (line.rows ?? 0) };
    case 'waiting':
      return { ...result, waiting: line.documents ?? 0 };
    case 'difference':
      return { ...result, found: [...result.found, { ...line, kind: 'read index' }] };
    default:
      return { ...result, found: [...result.found, line] };
  }
}

function sentenceOf({ found, rows }: VerificationState, events: number | undefined): string {
  const what = events === undefined ? '' : `, and the graph with ${formatCount(events)} events`;
  const compared = `Compared ${formatCount(Math.round(rows / 2))} rows of the read index${what}`;
  return `${compared}: ${found.length === 0 ? 'no differences' : `${formatCount(found.length)} differences`}.`;
}
