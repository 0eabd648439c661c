import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Rebuild } from '../../../projections/generations/generation.ts';
import {
  type GenerationStore,
  openGenerationStore,
} from '../../../projections/generations/generation-store.ts';
import { rebuildOperation } from '../../../services/operator/generations.ts';
import { createJobs } from '../../../services/operator/jobs.ts';
import type { LeaderLink, OperatorContext } from '../../../services/operator/operation.ts';
import { runOnLeader } from '../../../services/operator/run-on-leader.ts';
import { LeaderElsewhere } from '../../../services/read-side/outside-generation.ts';
import { createDataDirectory } from '../../support/server.ts';

/** A rebuild whose process loses the lease at the switch, which cancels the switch. The next leader makes it again. */
const CANCELLED = 'generation 2 is not served: the switch was cancelled';
const REQUEST = { graph: false, accept: false };
const NEVER = new AbortController().signal;

let data: string;
let store: GenerationStore;
let discarded: string[];

beforeEach(() => {
  data = createDataDirectory();
  store = openGenerationStore(data);
  discarded = [];
});
afterEach(() => {
  store.close();
  rmSync(data, { recursive: true, force: true });
});

/** Creates a process that fails to switch over. `isLeader`: it is still the leader. */
function createContext(isLeader: boolean): OperatorContext {
  const made = {
    ...store.begin({ graph: false }, '2026-11-30T00:00:00.000Z'),
    phase: 'taking over',
  } as Rebuild;
  const context: Pick<OperatorContext, 'data' | 'generations' | 'build' | 'rebuilds'> = {
    data,
    generations: {
      ...({} as OperatorContext['generations']),
      store,
      takeOver: async () => {
        throw new Error(CANCELLED);
      },
      refuseTakeOver() {
        if (!isLeader) throw new LeaderElsewhere();
      },
    },
    async *build() {
      yield made;
    },
    rebuilds: {
      ...({} as NonNullable<OperatorContext['rebuilds']>),
      discard: async (_rebuild, message) => void discarded.push(message),
    },
  };
  return context as OperatorContext;
}

async function linesOf(lines: AsyncIterable<unknown>): Promise<readonly unknown[]> {
  return Array.fromAsync(lines);
}

it('is carried out by the next leader if its own process was asked', async () => {
  const context = createContext(false);
  let locations = 0;
  const leader: LeaderLink = {
    locate: async () => (locations++ === 0 ? 'here' : 'elsewhere'),
    ask: async ({ directory }) =>
      directory === null
        ? { directory: 'other', lines: [], end: null }
        : { directory, lines: ['live there'], end: { kind: 'done' } },
  };
  const here = () => rebuildOperation.run(context, REQUEST, NEVER);
  const lines = await linesOf(
    runOnLeader({ leader, name: 'rebuild', form: REQUEST, here, isOnce: false }, NEVER),
  );
  expect(lines.at(-1)).toBe('live there');
  expect(discarded).toEqual([CANCELLED]);
});

it('moves if another process has asked for it', async () => {
  const jobs = createJobs(createContext(false));
  const asked = { id: randomUUID(), name: 'rebuild', form: REQUEST, directory: store.directory() };
  let after = 0;
  for (;;) {
    const { lines, end } = await jobs.answer({ ...asked, after });
    after += lines.length;
    if (end === null) continue;
    expect(end).toEqual({ kind: 'moved' });
    break;
  }
});

it('fails with its reason while its process is the leader', async () => {
  const context = createContext(true);
  await expect(linesOf(rebuildOperation.run(context, REQUEST, NEVER))).rejects.toThrow(CANCELLED);
  expect(discarded).toEqual([CANCELLED]);
});
