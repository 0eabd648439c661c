import type { Trouble } from '../../shared/event-store/event-store.ts';

/** Repeats the same message after this time. */
const AGAIN_AFTER_MS = 10_000;

/** Reports the first failure at once, then new ones, and those that last for ten seconds. */
export function reportTrouble(say: (trouble: Trouble) => void): (trouble: Trouble) => void {
  const said = new Map<string, number>();
  return (trouble) => {
    const now = performance.now();
    const text = trouble.error.message;
    if (now - (said.get(text) ?? Number.NEGATIVE_INFINITY) < AGAIN_AFTER_MS) return;
    said.set(text, now);
    say(trouble);
  };
}

/** Reports trouble to the user of a command: a line on standard error. */
export const printTrouble = reportTrouble(({ operation, error }) => {
  process.stderr.write(`${operation}: ${error.message}. Trying again.\n`);
});
