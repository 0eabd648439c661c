import { valueWithin } from '../../shared/value-within.ts';
import { CONDITIONS, type ConditionCode, type Severity } from './condition-table.ts';

/** Something that is wrong now, as a check finds it. */
export type FoundCondition = {
  readonly code: ConditionCode;
  /** Names what is wrong, with numbers: a clause without a full stop. */
  readonly message: string;
  /** True: requests should be sent to other processes. */
  readonly isUnready?: boolean;
};

/** Something that is wrong, and what it means. */
export type ProcessCondition = {
  readonly code: ConditionCode;
  readonly severity: Severity;
  readonly message: string;
  /** Time at which this process first found it, in ISO 8601. */
  readonly since: string;
  readonly readers: string;
  readonly writers: string;
  readonly advice: string;
};

/** Returns what is wrong, or undefined. It may ask other servers. */
export type ConditionCheck = () => FoundCondition | undefined | Promise<FoundCondition | undefined>;

export type ConditionReport = {
  readonly began: (condition: ProcessCondition) => void;
  readonly ended: (condition: ProcessCondition) => void;
};

/** Conditions of a process. Each part of the process adds its own check. */
export type Conditions = ReturnType<typeof createConditions>;

/** A check that takes longer fails: what it found before stays. */
const CHECK_LIMIT_MS = 2_500;
/** Looks that begin within this time share one answer. */
const SHARED_MS = 500;
const LOOK_EVERY_MS = 2_000;

type Known = { readonly condition: ProcessCondition; readonly isUnready: boolean };

/** Creates the conditions of a process without checks. Reports each condition when a look first finds it, and when it is over. */
export function createConditions(report: ConditionReport, now: () => number = Date.now) {
  const checks = new Map<ConditionCheck, Known | undefined>();
  let looking: Promise<void> | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;

  const lookAt = async (check: ConditionCheck): Promise<void> => {
    const asked = Promise.resolve().then(check);
    const found = await valueWithin(
      CHECK_LIMIT_MS,
      asked.then((value) => ({ value })),
    ).catch(() => undefined);
    if (found === undefined || !checks.has(check)) return;
    note(check, found.value);
  };
  const note = (check: ConditionCheck, found: FoundCondition | undefined): void => {
    const before = checks.get(check);
    const isSame = before?.condition.code === found?.code;
    if (before !== undefined && !isSame) report.ended(before.condition);
    if (found === undefined) {
      checks.set(check, undefined);
      return;
    }
    const since = isSame && before !== undefined ? before.condition.since : new Date(now()).toISOString();
    const condition = { ...CONDITIONS[found.code], code: found.code, message: found.message, since };
    checks.set(check, { condition, isUnready: found.isUnready === true });
    if (!isSame) report.began(condition);
  };
  const lookAll = async (): Promise<void> => {
    await Promise.all([...checks.keys()].map(lookAt));
    lookedAt = performance.now();
  };
  const look = async (): Promise<readonly Known[]> => {
    if (performance.now() - lookedAt >= SHARED_MS) {
      looking ??= lookAll().finally(() => {
        looking = undefined;
      });
      await looking;
    }
    return inOrder([...checks.values()].flatMap((known) => known ?? []));
  };
  const timer = setInterval(() => {
    // Never rejects: a check that fails changes nothing.
    look().catch(() => {});
  }, LOOK_EVERY_MS).unref();
  return {
    /** Adds a check, which every look calls. Returns a function that removes it. */
    watch(check: ConditionCheck): () => void {
      checks.set(check, undefined);
      lookedAt = Number.NEGATIVE_INFINITY;
      return () => void checks.delete(check);
    },
    /** Returns what is wrong now, the most serious first. */
    look: async (): Promise<readonly ProcessCondition[]> => (await look()).map(({ condition }) => condition),
    /** Returns the first condition for which requests should be sent to other processes. */
    unready: async (): Promise<ProcessCondition | undefined> =>
      (await look()).find(({ isUnready }) => isUnready)?.condition,
    close: () => clearInterval(timer),
  };
}

const ORDER = Object.keys(CONDITIONS);

function inOrder(all: readonly Known[]): readonly Known[] {
  const rank = ({ condition }: Known) => ORDER.indexOf(condition.code);
  return all.toSorted((a, b) => rank(a) - rank(b));
}
