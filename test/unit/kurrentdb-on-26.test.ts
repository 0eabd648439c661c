import { afterAll, describe, vi } from 'vitest';
import { takesMinutes } from '../support/takes-minutes.ts';

/** The suites whose tests name no version, on a double of 26.1. Their own files run them on 24.2. */
const SUITES = ['connection', 'faults', 'foreign', 'read', 'subscription', 'cluster', 'restored-graph'];

process.env['VARVE_TEST_DOUBLE'] = '26.1';
afterAll(() => {
  delete process.env['VARVE_TEST_DOUBLE'];
});

describe.each(SUITES)(
  'version 26.1: %s',
  takesMinutes('suites on version 26.1 of KurrentDB'),
  async (suite) => {
    // The process may have run the file before. Without this the import would define no test again.
    vi.resetModules();
    await import(`./kurrentdb-${suite}.test.ts`);
  },
);
