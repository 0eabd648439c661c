import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runVarve } from './run-varve.ts';
import { spawnVarve } from './server.ts';

/** Number of cooks before the first write. It is large, so that a rebuild takes long enough to kill it. */
export const SEEDED = 1_500;
const MAX_RATE = 2_500;

/** Imports the first cooks of a kitchen. `options`: arguments for its content types and place. */
export async function seedKitchen(options: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'varve-seed-'));
  const file = join(folder, 'seed.jsonl');
  const lines = Array.from({ length: SEEDED }, (_, i) => ({
    ...{ type: 'cook', key: `c${i}`, state: 'published' },
    data: { name: `zz ${i}` },
  }));
  writeFileSync(file, lines.map((line) => JSON.stringify(line)).join('\n'));
  const { code, stderr } = await runVarve(['import', file, ...options]);
  if (code !== 0) throw new Error(stderr);
  rmSync(folder, { recursive: true });
}

/** Progress line of a rebuild. */
type RebuildLine = {
  readonly id: number;
  readonly phase: string;
  readonly progress: { readonly done: number; readonly total: number };
};

/** Random moments within the duration of a rebuild. The duration is learnt from rebuilds that ended before they were killed. */
export type KillMoments = { next(): number; learn(worked: number): void };

export function createKillMoments(): KillMoments {
  // A rebuild cannot be faster with this rate.
  let longest = (1_000 * SEEDED) / MAX_RATE;
  return {
    next: () => Math.random() * longest,
    learn(worked) {
      longest = worked;
    },
  };
}

/**
 * Runs a rebuild. If `isKilled`, kills it at one of these moments after its first report. Returns its reports.
 */
export async function rebuildUntilKilled(
  options: readonly string[],
  moments: KillMoments,
  isKilled: boolean,
): Promise<readonly RebuildLine[]> {
  const args = ['rebuild', '--json', '--max-rate', String(MAX_RATE), ...options];
  const { child, exited } = spawnVarve(args);
  let timer: NodeJS.Timeout | undefined;
  let begun = performance.now();
  child.stdout?.once('data', () => {
    begun = performance.now();
    if (isKilled) timer = setTimeout(() => child.kill('SIGKILL'), moments.next());
  });
  const { code, signal, output } = await exited;
  clearTimeout(timer);
  if (signal === null) moments.learn(performance.now() - begun);
  if (signal === null && code !== 0) throw new Error(`varve ${args.join(' ')} ended with ${code}: ${output}`);
  return output
    .split('\n')
    .filter((line) => line.startsWith('{"id"') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as RebuildLine);
}
