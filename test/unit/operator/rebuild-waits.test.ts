import { afterEach, expect, it, vi } from 'vitest';
import type { Rebuild } from '../../../projections/generations/generation.ts';
import { quietLogger } from '../../../services/cli/output/create-logger.ts';
import { reportWaits, showRebuild } from '../../../services/cli/output/show-rebuild.ts';

const REBUILD: Rebuild = {
  ...{ id: 1, generation: 2, scope: { graph: false }, phase: 'replaying', wanted: 'run' },
  startedAt: '2026-11-30T00:00:00.000Z',
  progress: { done: 26, total: 26, rate: 0, lag: 0 },
} as Rebuild;
const WAIT = 'waiting for Elasticsearch: connect ECONNREFUSED 127.0.0.1:9388';

afterEach(() => vi.restoreAllMocks());

it('a rebuild that waits for Elasticsearch reports it to the command, which prints it once', async () => {
  const printed: string[] = [];
  vi.spyOn(console, 'error').mockImplementation((line) => void printed.push(line));
  const shown = showRebuild(false);
  const reported: Rebuild[] = [];
  const logger = await quietLogger(
    reportWaits(
      () => REBUILD,
      (rebuild) => {
        reported.push(rebuild);
        shown.tell(rebuild);
      },
    ),
  );
  const wait = () =>
    logger.warn({ reason: 'connect ECONNREFUSED 127.0.0.1:9388' }, 'waiting for Elasticsearch');
  wait();
  shown.tell(REBUILD);
  wait();
  logger.info({}, 'not a warning');
  expect(reported.map(({ message }) => message)).toEqual([WAIT, WAIT]);
  expect(printed).toEqual([`varve rebuild: ${WAIT}`]);
});

it('says on a terminal what ends it, before the bar', () => {
  const printed: string[] = [];
  vi.spyOn(console, 'error').mockImplementation((line) => void printed.push(line));
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const { isTTY } = process.stderr;
  process.stderr.isTTY = true;
  try {
    const shown = showRebuild(false);
    for (const phase of ['replaying', 'filling'] as const) shown.tell({ ...REBUILD, phase } as Rebuild);
    shown.end();
  } finally {
    process.stderr.isTTY = isTTY;
    write.mockRestore();
  }
  expect(printed).toEqual([
    'Ctrl-C or a closed terminal interrupts the rebuild; the same command continues it',
  ]);
});

it('the reason of a rebuild that has ended is not a wait', () => {
  const printed: string[] = [];
  vi.spyOn(console, 'error').mockImplementation((line) => void printed.push(line));
  for (const phase of ['stopped', 'cancelled', 'done'] as const)
    showRebuild(false).tell({ ...REBUILD, phase, message: '3 differences' });
  expect(printed).toEqual([]);
});
