import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);
const DELIVERY = join(import.meta.dirname, '../../services/delivery');
/** Number of names: at least twice as many as are remembered. */
const NAMES = 100_000;

const PROGRAM = `
  import { documentTag } from ${JSON.stringify(join(DELIVERY, 'tag.ts'))};
  import { createTagNames } from ${JSON.stringify(join(DELIVERY, 'tag-names.ts'))};
  const names = createTagNames({ key: Buffer.from('a key'), registry: { contentTypes: new Map() }, plain: false });
  const nameOf = (n) => [...names.ofChange([documentTag('api::tag.tag', 'published', 'document' + n)])].join();
  const heap = () => {
    globalThis.gc();
    return process.memoryUsage().heapUsed;
  };
  const first = nameOf(0);
  const before = heap();
  for (let n = 0; n < ${NAMES}; n++) nameOf(n);
  console.log(JSON.stringify({ grown: heap() - before, isEqual: nameOf(0) === first }));
`;

it('names of tags are made again instead of being remembered permanently', async () => {
  const { stdout } = await run(process.execPath, ['--expose-gc', '--input-type=module', '-e', PROGRAM]);
  const { grown, isEqual } = JSON.parse(stdout) as { readonly grown: number; readonly isEqual: boolean };
  expect(isEqual).toBe(true);
  // All names would take 12 MB.
  expect(grown).toBeLessThan(8_000_000);
});
