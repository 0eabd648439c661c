import { valueWithin } from '../../shared/value-within.ts';
import type { ConditionCode } from './condition-table.ts';
import type { Conditions, ProcessCondition } from './conditions.ts';

/** State that says whether requests should be sent to this process. */
export type Readiness =
  /** `note`: information for people. Reads are answered. */
  | { readonly status: 'ready'; readonly note?: string }
  | {
      readonly status: 'unavailable';
      readonly reason: 'copying' | 'draining' | ConditionCode;
      /** Message for people. */
      readonly message: string;
    };

/** Checks whether requests should be sent to this process. */
export type ReadinessCheck = ReturnType<typeof createReadinessCheck>;

/** A log that takes longer to return its last position counts as unreachable. */
const LOG_TIMEOUT_MS = 2_000;

/**
 * Creates the check of a process that starts. It is ready when it serves, lags at most `maxLagSeconds` behind the log, and no condition
 * sends requests to other processes.
 */
export function createReadinessCheck(
  maxLagSeconds: number,
  conditions: Pick<Conditions, 'look' | 'unready'> = NO_CONDITIONS,
) {
  let lag: (() => Promise<number>) | undefined;
  let isCopying = () => false;
  let drains = false;
  let note: string | undefined;
  let halt: string | undefined;
  let loading = 'The data is being loaded';
  const withHalt = (message: string) => (halt === undefined ? message : `${message}. ${halt}`);
  return {
    /** Ends the state `starting`. From now on the lag decides. */
    serving(lagSeconds: () => Promise<number>): void {
      lag = lagSeconds;
    },
    /** Says why the data is loaded, if that takes longer than usual. */
    loading(text: string): void {
      loading = text;
    },
    /** Sets the check of a first copy: while it is true, the content is incomplete and the process is not ready. */
    copying(ask: () => boolean): void {
      isCopying = ask;
    },
    /** Sets the note of `ready`. undefined removes the note. */
    note(text: string | undefined): void {
      note = text;
    },
    /** Adds a text to all later states but `draining`: the process no longer applies the log. */
    halted(text: string): void {
      halt = text;
    },
    draining(): void {
      drains = true;
    },
    async check(): Promise<Readiness> {
      if (drains) return unavailable('draining', 'The server is stopping');
      const unready = await conditions.unready();
      if (unready !== undefined) return unavailable(unready.code, withHalt(sentence(unready)));
      if (lag === undefined) return unavailable('starting', withHalt(loading));
      if (isCopying())
        return unavailable('copying', withHalt('The first copy of the followed Strapi is being made'));
      const found = await readinessBy(lag, maxLagSeconds);
      if (found.status === 'unavailable') return { ...found, message: withHalt(found.message) };
      const said = halt ?? note ?? (await noteOf(conditions));
      return said === undefined ? found : { ...found, note: said };
    },
  };
}

const NO_CONDITIONS: Pick<Conditions, 'look' | 'unready'> = {
  look: async () => [],
  unready: async () => undefined,
};

/** Returns the most serious condition that refuses requests, for a process that should get requests nevertheless. */
async function noteOf({ look }: Pick<Conditions, 'look'>): Promise<string | undefined> {
  const outage = (await look()).find(({ severity }) => severity === 'outage');
  return outage && `${sentence(outage)} ${outage.writers}`;
}

function sentence({ message, since }: ProcessCondition): string {
  return `${message}, since ${since}.`;
}

async function readinessBy(lag: () => Promise<number>, maxLagSeconds: number): Promise<Readiness> {
  const seconds = await valueWithin(LOG_TIMEOUT_MS, lag()).catch((error: Error) => error);
  if (seconds instanceof Error)
    return unavailable('log-unreachable', `The event log cannot be used: ${seconds.message}`);
  if (seconds === undefined) return unavailable('log-unreachable', 'The event log does not answer');
  if (seconds <= maxLagSeconds) return { status: 'ready' };
  return unavailable('lagging', `Reads lag ${Math.round(seconds)} s behind the event log`);
}

function unavailable(reason: (Readiness & { status: 'unavailable' })['reason'], message: string): Readiness {
  return { status: 'unavailable', reason, message };
}
