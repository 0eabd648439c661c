import { Presets, SingleBar } from 'cli-progress';
import { presentSeconds } from './present-amounts.ts';

export type ImportProgress = {
  /** Adds to the finished part of the total. */
  advance(amount: number): void;
  /** Prints a line on stdout, and shows the bar again below it. */
  print(line: string): void;
  /** Ends the bar, which keeps the process alive until then. */
  end(): void;
};

const CLEAR_LINE = '\r\u001b[K';

/** Returns the time left of a bar, in words. */
export function timeLeft(seconds: number): string {
  if (!Number.isFinite(seconds) || seconds < 0) return 'time left unknown';
  return `${presentSeconds(seconds)} left`;
}

/** Shows progress as a bar on stderr if that is a terminal, and elsewhere not at all. */
export function showProgress(total: number, what = 'importing'): ImportProgress {
  return process.stderr.isTTY ? showBar(total, what) : HIDDEN;
}

function showBar(total: number, what: string): ImportProgress {
  const bar = new SingleBar(
    { format: `${what} [{bar}] {percentage}%, {eta_formatted}`, hideCursor: true, formatTime: timeLeft },
    Presets.rect,
  );
  bar.start(total, 0);
  return {
    advance: (amount) => bar.increment(amount),
    print(line) {
      process.stderr.write(CLEAR_LINE);
      console.log(line);
      bar.render();
    },
    end: () => bar.stop(),
  };
}

/** Lines of progress would fill the logs of scripts, and hide messages there. */
const HIDDEN: ImportProgress = {
  advance() {},
  print: (line) => console.log(line),
  end() {},
};
