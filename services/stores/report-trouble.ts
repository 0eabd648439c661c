import type { Trouble } from '../../shared/event-store/event-store.ts';

/** Time after which the same message is reported again. */
const AGAIN_AFTER_MS = 10_000;

/** Reports a new failure at once. While the same failure lasts, reports it every ten seconds. */
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
