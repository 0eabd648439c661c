import { Presets, SingleBar } from 'cli-progress';

export type ImportProgress = {
  /** Adds to the finished part of the total. */
  advance(amount: number): void;
  /** Ends the bar, which keeps the process alive until then. */
  end(): void;
};

const STEPS = 10;

/** Shows progress on stderr: a bar on a terminal, elsewhere a line at every tenth. */
export function showProgress(total: number, what = 'importing'): ImportProgress {
  return process.stderr.isTTY ? showBar(total, what) : showSteps(total, what);
}

function showBar(total: number, what: string): ImportProgress {
  const bar = new SingleBar(
    { format: `${what} [{bar}] {percentage}% {eta_formatted}`, hideCursor: true },
    Presets.rect,
  );
  bar.start(total, 0);
  return { advance: (amount) => bar.increment(amount), end: () => bar.stop() };
}

function showSteps(total: number, what: string): ImportProgress {
  let done = 0;
  let shown = 0;
  return {
    advance(amount) {
      done += amount;
      const step = Math.floor((done / total) * STEPS);
      if (step <= shown) return;
      shown = step;
      process.stderr.write(`${what} ${Math.min(100, step * (100 / STEPS))} %\n`);
    },
    end() {},
  };
}
