import { afterAll, describe, vi } from 'vitest';

/** The suites whose tests name no version, on a double of 26.1. Their own files run them on 24.2. */
const SUITES = ['connection', 'faults', 'foreign', 'read', 'subscription', 'cluster', 'restored-graph'];

process.env['VARVE_TEST_DOUBLE'] = '26.1';
afterAll(() => {
  delete process.env['VARVE_TEST_DOUBLE'];
});

describe.each(SUITES)('version 26.1: %s', async (suite) => {
  // The process may have run the file before. Without this the import would define no test again.
  vi.resetModules();
  await import(`./kurrentdb-${suite}.test.ts`);
});
