import { Presets, SingleBar } from 'cli-progress';
import { isEnded, type Rebuild } from '../../../projections/generations/generation.ts';
import type { Logged } from './create-logger.ts';
import { timeLeft } from './import-progress.ts';

export type ShownRebuild = {
  tell(rebuild: Rebuild): void;
  /** Ends the bar. Further calls have no effect. */
  end(): void;
};

/** Shows a bar on a terminal, and elsewhere only what the rebuild waits for. With `json`, prints each report to stdout instead. */
export function showRebuild(json: boolean): ShownRebuild {
  if (json) return { tell: (rebuild) => console.log(JSON.stringify(rebuild)), end() {} };
  return process.stderr.isTTY ? showBar() : showWaits();
}

/** Reports what a rebuild waits for, such as an Elasticsearch that does not answer. `tell` gets the current rebuild with that as its message. */
export function reportWaits(current: () => Rebuild | undefined, tell: ShownRebuild['tell']): Logged {
  return (details, message) => {
    const rebuild = current();
    const { reason } = details as { reason?: unknown };
    const text = reason === undefined ? String(message) : `${message}: ${reason}`;
    if (rebuild !== undefined) tell({ ...rebuild, message: text });
  };
}

/** Returns what a rebuild that has not ended waits for. */
function waitOf({ phase, message }: Rebuild): string | undefined {
  return phase === 'stopped' || isEnded(phase) ? undefined : message;
}

function showWaits(): ShownRebuild {
  let shown: string | undefined;
  return {
    tell(rebuild) {
      const wait = waitOf(rebuild);
      if (wait !== undefined && wait !== shown) console.error(`varve rebuild: ${wait}`);
      shown = wait ?? shown;
    },
    end() {},
  };
}

const INTERRUPTED = 'Ctrl-C or a closed terminal interrupts the rebuild; the same command continues it';
const FORMAT = '{phase} [{bar}] {value} of {total}, {rate}/s, {eta_formatted}, {lag} behind';

function showBar(): ShownRebuild {
  const bar = new SingleBar({ format: FORMAT, hideCursor: true, formatTime: timeLeft }, Presets.rect);
  let shown: string | undefined;
  return {
    tell(rebuild) {
      const { phase } = rebuild;
      const { done, total, rate, lag } = rebuild.progress;
      const payload = { phase: waitOf(rebuild) ?? phase, rate: Math.round(rate), lag };
      if (shown === undefined) console.error(INTERRUPTED);
      if (shown !== phase) bar.start(Math.max(1, total), done, payload);
      shown = phase;
      bar.setTotal(Math.max(1, total));
      bar.update(done, payload);
    },
    end() {
      if (shown !== undefined) bar.stop();
      shown = undefined;
    },
  };
}
