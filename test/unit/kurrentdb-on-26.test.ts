import { afterAll, beforeAll, describe, vi } from 'vitest';
import { takesMinutes } from '../support/takes-minutes.ts';

/** The suites whose tests name no version, on a double of 26.1. Their own files run them on 24.2. */
const SUITES = ['connection', 'faults', 'foreign', 'read', 'subscription', 'cluster', 'restored-graph'];

describe.each(SUITES)(
  'version 26.1: %s',
  takesMinutes('suites on version 26.1 of KurrentDB'),
  async (suite) => {
    // Not while the file is read: the files of a worker share its environment, and no hook of a skipped suite runs.
    beforeAll(() => {
      process.env['VARVE_TEST_DOUBLE'] = '26.1';
    });
    afterAll(() => {
      delete process.env['VARVE_TEST_DOUBLE'];
    });
    // The process may have run the file before. Without this the import would define no test again.
    vi.resetModules();
    await import(`./kurrentdb-${suite}.test.ts`);
  },
);
