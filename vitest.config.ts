import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { defineConfig } from 'vitest/config';
import { createClosingLineReporter } from './test/support/closing-line-reporter.ts';
import { createCpuGroup, createCpuReporter } from './test/support/cpu-of-files.ts';
import { LongestFirst } from './test/support/longest-first.ts';

const reportCrash = pathToFileURL(join(import.meta.dirname, 'test/support/report-crash.ts'));
const crashReports = join(tmpdir(), `varve-crashes-${process.pid}.jsonl`);
const cpuGroup = process.env['VARVE_CPU'] === '1' ? createCpuGroup() : undefined;

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    environment: 'node',
    // Of the hundreds of processes that tests start each has to compile the same files: as varve does, but from its first file on.
    env: {
      NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/varve'),
      // A process that ends at an unhandled rejection fails the run, though its test looks at something else.
      NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --import=${reportCrash}`.trim(),
      CRASH_REPORTS: crashReports,
      ...(cpuGroup && { CPU_GROUP: cpuGroup }),
    },
    setupFiles: cpuGroup === undefined ? [] : ['test/support/count-cpu.ts'],
    globalSetup: [
      'test/support/program-setup.ts',
      'test/support/elasticsearch-setup.ts',
      'test/support/loaded-corpus-setup.ts',
    ],
    reporters: [
      'default',
      ...(cpuGroup === undefined ? [] : [createCpuReporter(cpuGroup)]),
      createClosingLineReporter(crashReports),
    ],
    // Two shared cores: a slow machine is not a failure, a test that hangs is.
    testTimeout: 180_000,
    // A poll fails earlier than its test, with the value that it saw last. Vitest's default is a second.
    expect: { poll: { timeout: 50_000 } },
    // Modules are loaded once for all files of a worker, which is a third of the whole run. No test file keeps state in one.
    isolate: false,
    // Twice the cores CI has: tests mostly wait for processes that they started. In .ci/run a second of a test needs a third of processor time.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    hookTimeout: 180_000,
  },
});
