import { registerHooks } from 'node:module';
import { isMainThread } from 'node:worker_threads';

/** Steps of an erasure before which `plant-kill.ts` kills a server. */
export const KILLED_STEPS = ['proof', 'clean files', 'record'] as const;
export type KilledStep = (typeof KILLED_STEPS)[number];

/**
 * Loaded into a server (NODE_OPTIONS). It is killed, with its supervisor, before the step of an erasure that the variable PLANTED_KILL names.
 */
const BUG = `
  process.kill(process.ppid, 'SIGKILL');
  process.kill(process.pid, 'SIGKILL');
`;

const AFTER: Readonly<Record<KilledStep, string>> = {
  proof: 'hold(type, documentId, async () => {',
  'clean files': 'await applied(erased.at(-1)?.position ?? 0n);',
  record: 'await carryOut(options, due, signal);',
};

const step = process.env['PLANTED_KILL'];
if (isMainThread && step !== undefined)
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (!url.endsWith('/services/erasure/open-erasures.ts')) return loaded;
      const source = String(loaded.source);
      const after = AFTER[step as KilledStep];
      if (!source.includes(after)) throw new Error('open-erasures.ts has changed: plant the kill elsewhere');
      return { ...loaded, source: source.replace(after, after + BUG) };
    },
  });
