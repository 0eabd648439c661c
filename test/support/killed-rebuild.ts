import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runVarve } from './run-varve.ts';
import { spawnVarve } from './server.ts';

/** Cooks that are there before anyone writes: so many that there is time to be killed in. */
export const SEEDED = 1_500;
const MAX_RATE = 2_500;

/** Imports the first cooks of a kitchen. `options`: its content types, and where it is. */
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

/** What a rebuild reports of itself. */
export type RebuildLine = {
  readonly phase: string;
  readonly progress: { readonly done: number; readonly total: number };
};

/** Runs a rebuild, killing it after so many milliseconds; undefined: not at all. Returns what it reported. */
export async function rebuildUntilKilled(
  options: readonly string[],
  killAfter: number | undefined,
): Promise<readonly RebuildLine[]> {
  const args = ['rebuild', '--json', '--max-rate', String(MAX_RATE), ...options];
  const { child, exited } = spawnVarve(args);
  const timer = killAfter === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfter);
  const { code, signal, output } = await exited;
  clearTimeout(timer);
  if (signal === null && code !== 0) throw new Error(`varve ${args.join(' ')} ended with ${code}: ${output}`);
  return output
    .split('\n')
    .filter((line) => line.startsWith('{"id"') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as RebuildLine);
}
