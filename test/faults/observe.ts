import type { ConditionCode } from '../../services/operating/condition-table.ts';
import type { State } from '../../services/state/state.ts';
import type { Member } from '../support/fleet.ts';
import { readSamples } from '../support/metrics-client.ts';

/** Status of an answer; `late`: there was none within some seconds, or it is then a 503; `down`: no process accepts the connection, or it breaks. */
export type Outcome = number | 'late' | 'down';

/** Answers of a process at one moment. */
export type Observed = {
  /** Outcome of reads of the type that a fault concerns, and of another type. */
  readonly tags: Outcome;
  readonly countries: Outcome;
  readonly ready: Outcome;
  readonly metrics: Outcome;
  readonly conditions: readonly ConditionCode[];
};

/** Answers and texts of a process at one moment. */
export type Words = {
  readonly observed: Observed;
  /** Answers to the reads, and the text of readiness. */
  readonly texts: { readonly tags: string; readonly countries: string; readonly ready: string };
  /** First sentences of `/_varve/state`. */
  readonly summary: string;
  /** Metrics, if it exports them. */
  readonly scrape: string | undefined;
};

export const HEALTHY: Observed = { tags: 200, countries: 200, ready: 200, metrics: 200, conditions: [] };

const TIMEOUT_MS = 2_000;
const READ_MS = 4_000;
/** Readiness and the state ask Elasticsearch for some seconds, one after the other. */
const SILENT_INDEX_MS = 10_000;
export const READ_TAGS = '/api/tags?fields=key,name&sort=id';
export const READ_COUNTRIES = '/api/countries?fields=key,name&sort=id';

export type Answer = { readonly outcome: Outcome; readonly text: string };

/** Sends a request to a process. Never rejects. */
export async function ask(member: Member, path: string, timeout = TIMEOUT_MS): Promise<Answer> {
  try {
    const signal = AbortSignal.timeout(timeout);
    const answer = await fetch(member.server().url + path, { signal });
    return { outcome: answer.status, text: await answer.text() };
  } catch (error) {
    return { outcome: (error as Error).name === 'TimeoutError' ? 'late' : 'down', text: '' };
  }
}

/** Asks a process everything at once. */
export async function observe(member: Member): Promise<Words> {
  const paths = [READ_TAGS, READ_COUNTRIES, '/health/ready', '/metrics', '/_varve/state'];
  const timeoutOf = (path: string) => (path.startsWith('/api') ? READ_MS : SILENT_INDEX_MS);
  const answers = await Promise.all(paths.map((path) => ask(member, path, timeoutOf(path))));
  const [tags, countries, ready, metrics, state] = answers as [Answer, Answer, Answer, Answer, Answer];
  const isScraped = metrics.outcome === 200;
  const conditions = readSamples(isScraped ? metrics.text : '')
    .filter(({ name, value }) => name === 'varve_condition' && value === 1)
    .map(({ labels }) => labels['condition'] as ConditionCode);
  return {
    observed: {
      tags: tags.outcome,
      countries: countries.outcome,
      ready: ready.outcome,
      metrics: metrics.outcome,
      conditions: conditions.sort(),
    },
    texts: { tags: tags.text, countries: countries.text, ready: ready.text },
    summary: state.outcome === 200 ? summaryOf(state.text) : `${state.outcome} ${state.text}`,
    scrape: isScraped ? metrics.text : undefined,
  };
}

function summaryOf(text: string): string {
  return (JSON.parse(text) as { readonly data: State }).data.summary.text;
}
