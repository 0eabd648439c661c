import type { WireAnswer } from './wire-client.ts';

/** Refusals of a read that costs too much, by what it has crossed. */
const BUDGETS = {
  'the limit of rows': /would bring more than \d+ entries/,
  'the time limit': /it takes more than [\d.]+ ms/,
} as const;

type Budget = keyof typeof BUDGETS;

/** Counts answers by status, and refusals by the budget that was crossed. */
export function createAnswerCounts() {
  const statuses = new Map<string, number>();
  const crossed = new Map<Budget, number>();
  const sorted = (counts: ReadonlyMap<string, number>) =>
    [...counts].sort(([a], [b]) => a.localeCompare(b)).map(([name, count]) => `${name}: ${count}`);
  return {
    add(answer: WireAnswer): void {
      const status = answer.kind === 'cut' ? 'none' : String(answer.status);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (answer.kind === 'cut' || answer.status !== 400) return;
      for (const [name, message] of Object.entries(BUDGETS) as [Budget, RegExp][])
        if (message.test(answer.body)) crossed.set(name, (crossed.get(name) ?? 0) + 1);
    },
    /** Returns whether some read crossed a budget. On a fast machine few of them cross the time limit. */
    hasCrossed: (): boolean => crossed.size > 0,
    text: (): string =>
      `answers ${sorted(statuses).join(', ')}; crossed ${sorted(crossed).join(', ') || 'nothing'}`,
  };
}
