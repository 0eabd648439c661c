import { Presets, SingleBar } from 'cli-progress';
import type { Rebuild } from '../../../projections/generations/generation.ts';
import { timeLeft } from './import-progress.ts';

export type ShownRebuild = {
  tell(rebuild: Rebuild): void;
  /** Ends the bar. Further calls have no effect. */
  end(): void;
};

/** Shows a bar on a terminal, and elsewhere nothing. With `json`, prints each report to stdout instead. */
export function showRebuild(json: boolean): ShownRebuild {
  if (json) return { tell: (rebuild) => console.log(JSON.stringify(rebuild)), end() {} };
  return process.stderr.isTTY ? showBar() : { tell() {}, end() {} };
}

const FORMAT = '{phase} [{bar}] {value} of {total}, {rate}/s, {eta_formatted}, {lag} behind';

function showBar(): ShownRebuild {
  const bar = new SingleBar({ format: FORMAT, hideCursor: true, formatTime: timeLeft }, Presets.rect);
  let shown: string | undefined;
  return {
    tell({ phase, progress: { done, total, rate, lag } }) {
      const payload = { phase, rate: Math.round(rate), lag };
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
