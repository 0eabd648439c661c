import { Presets, SingleBar } from 'cli-progress';

export type ImportProgress = {
  /** So many more bytes of the files are done. */
  advance(bytes: number): void;
  end(): void;
};

const STEPS = 10;

/** A bar on a terminal; elsewhere a line at every tenth. On stderr. */
export function showProgress(totalBytes: number): ImportProgress {
  return process.stderr.isTTY ? showBar(totalBytes) : showSteps(totalBytes);
}

function showBar(totalBytes: number): ImportProgress {
  const bar = new SingleBar(
    { format: 'importing [{bar}] {percentage}% {eta_formatted}', hideCursor: true },
    Presets.rect,
  );
  bar.start(totalBytes, 0);
  return { advance: (bytes) => bar.increment(bytes), end: () => bar.stop() };
}

function showSteps(totalBytes: number): ImportProgress {
  let done = 0;
  let shown = 0;
  return {
    advance(bytes) {
      done += bytes;
      const step = Math.floor((done / totalBytes) * STEPS);
      if (step <= shown) return;
      shown = step;
      process.stderr.write(`importing ${Math.min(100, step * (100 / STEPS))} %\n`);
    },
    end() {},
  };
}
