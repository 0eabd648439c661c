import { rmSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { createDataDirectory } from './server.ts';

/** Creates a data directory that is removed when the current test ends. */
export function dataForTest(): string {
  const data = createDataDirectory();
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  return data;
}
