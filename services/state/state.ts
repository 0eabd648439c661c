import type { ClusterHealth, ClusterWatch } from '../../shared/read-index/cluster-health.ts';
import { valueWithin } from '../../shared/value-within.ts';
import { CONDITIONS, type Severity } from '../operating/condition-table.ts';
import type { ProcessCondition } from '../operating/conditions.ts';
import { type RunbookRow, rowsAbout } from '../operating/runbook.ts';
import type { ListedProcess } from './process-report.ts';
import type { WaitingDeliveries, WaitingPurges } from './watch-delivery.ts';

/** Something that is wrong, the processes that found it, and the rows of the runbook that say more. */
export type StateCondition = ProcessCondition & {
  readonly processes: readonly string[];
  readonly runbook: readonly RunbookRow[];
};

export type Summary = {
  readonly level: 'ok' | Severity;
  /** All right, or what is wrong, since when, what it means for readers and writers, and what to do. */
  readonly text: string;
};

export type IndexState = { readonly address: string } & (
  | ClusterHealth
  | { readonly status: 'unreachable'; readonly reason: string }
);

/** State of the processes of a log, as one of them knows it. */
export type State = {
  readonly summary: Summary;
  readonly conditions: readonly StateCondition[];
  /** The process that answers comes first. */
  readonly processes: readonly ListedProcess[];
  /** Elasticsearch; null: the index is in the process. */
  readonly readIndex: IndexState | null;
  /** Deliveries of webhooks that are not done; null: another process delivers them. */
  readonly webhooks: WaitingDeliveries | null;
  /** Changes that wait to be purged from caches; null: another process purges, or there is no cache. */
  readonly purges: readonly WaitingPurges[] | null;
};

export type StateParts = {
  readonly processes: () => Promise<readonly ListedProcess[]>;
  readonly cluster: ClusterWatch | undefined;
  readonly webhooks: () => WaitingDeliveries | null;
  readonly purges: () => readonly WaitingPurges[] | null;
};

/** Reads the state. It asks Elasticsearch for some seconds at most. */
export async function readState({ processes, cluster, webhooks, purges }: StateParts): Promise<State> {
  const [listed, readIndex] = await Promise.all([processes(), cluster ? stateOfIndex(cluster) : null]);
  return stateOf({ processes: listed, readIndex, webhooks: webhooks(), purges: purges() });
}

/** Returns the state with its conditions and its summary. */
function stateOf(parts: Omit<State, 'summary' | 'conditions'>): State {
  const conditions = joinConditions(parts.processes);
  return { summary: summarise(conditions, parts.processes), conditions, ...parts };
}

/** Seconds without a report after which a process counts as silent. It reports every two seconds. */
const SILENT_SECONDS = 10;

function joinConditions(processes: readonly ListedProcess[]): readonly StateCondition[] {
  const found = processes.flatMap((each) => [
    ...(each.silentSeconds < SILENT_SECONDS ? each.conditions : []).map((condition) => ({
      condition,
      process: processName(each),
    })),
    ...silence(each),
  ]);
  const joined = new Map<string, StateCondition>();
  for (const { condition, process } of found) {
    const known = joined.get(condition.code);
    const isFirst = known === undefined || condition.since < known.since;
    joined.set(condition.code, {
      ...(isFirst ? condition : known),
      processes: [...(known?.processes ?? []), process],
      runbook: rowsAbout(condition.code),
    });
  }
  return [...joined.values()].toSorted((a, b) => ORDER.indexOf(a.code) - ORDER.indexOf(b.code));
}

const ORDER = Object.keys(CONDITIONS);

function silence(process: ListedProcess) {
  const { silentSeconds } = process;
  if (silentSeconds < SILENT_SECONDS) return [];
  const name = processName(process);
  const since = new Date(Date.now() - silentSeconds * 1_000).toISOString();
  const message = `${name} has ended or is silent`;
  return [
    {
      process: name,
      condition: { ...CONDITIONS['process-silent'], code: 'process-silent', message, since } as const,
    },
  ];
}

/** Returns the name of a process for people, such as `varve project 4711 on db-1`. */
function processName({ role, pid, host }: Pick<ListedProcess, 'role' | 'pid' | 'host'>): string {
  return `varve ${role} ${pid} on ${host}`;
}

function summarise(conditions: readonly StateCondition[], processes: readonly ListedProcess[]): Summary {
  const [worst] = conditions;
  if (worst !== undefined) {
    const { severity, message, since, readers, writers, advice } = worst;
    const more =
      conditions.length === 1
        ? ''
        : ` Also: ${conditions
            .slice(1)
            .map((each) => each.message)
            .join('; ')}.`;
    return {
      level: severity,
      text: `${capital(message)}, since ${since}. ${readers} ${writers} ${advice}${more}`,
    };
  }
  const leader = processes.find(({ epoch }) => epoch !== null);
  if (leader === undefined)
    return { level: 'degraded', text: 'The leader is not known yet: it changes within some seconds.' };
  const count = processes.length === 1 ? '1 process serves' : `${processes.length} processes serve`;
  return { level: 'ok', text: `All is right: ${count}, and the leader is ${processName(leader)}.` };
}

function capital(message: string): string {
  return message.charAt(0).toUpperCase() + message.slice(1);
}

const ANSWERS_WITHIN_MS = 3_000;

async function stateOfIndex({ address, health }: ClusterWatch): Promise<IndexState> {
  try {
    const found = await valueWithin(ANSWERS_WITHIN_MS, health());
    if (found !== undefined) return { address, ...found };
    return { address, status: 'unreachable', reason: 'it has not answered within 3 s' };
  } catch (error) {
    return { address, status: 'unreachable', reason: (error as Error).message };
  }
}
