import { defineConfig } from 'vitest/config';
import { createClosingLineReporter } from './test/support/closing-line-reporter.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    environment: 'node',
    globalSetup: ['test/support/elasticsearch-setup.ts'],
    reporters: ['default', createClosingLineReporter()],
    // Two shared cores: a slow machine is not a failure, a test that hangs is.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
