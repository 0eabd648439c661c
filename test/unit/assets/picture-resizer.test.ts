import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import {
  createPictureResizer,
  type ResizeOutcome,
} from '../../../services/assets/pictures/picture-resizer.ts';

/** Writes a program that replaces the one that resizes pictures. */
function program(code: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'varve-program-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'program.mjs');
  writeFileSync(file, code);
  return file;
}

const NOTHING = `process.stdout.write('{"kind":"made","formats":[]}')`;
const content = () => Readable.from([Buffer.from('a picture')]);
const outcomeOf = async (outcome: ResizeOutcome) => outcome;
const pixels = { maxPixels: 1_000 };

it('kills a program that takes too long, and reports it', async () => {
  const resizer = createPictureResizer({
    ...{ ...pixels, timeLimitMs: 300, program: program('setInterval(() => {}, 1000)') },
  });
  expect(await resizer.resize(content(), outcomeOf)).toEqual({
    kind: 'failed',
    reason: 'it took longer than 300 ms',
  });
});

it.each([
  ['ends by a signal', `process.kill(process.pid, 'SIGSEGV')`, 'SIGSEGV'],
  ['throws', `throw new RangeError('no room')`, 'RangeError: no room'],
  [
    'answers too much',
    `process.stdout.write('a'.repeat(100_001)); setInterval(() => {}, 1000)`,
    'it answered more than 100000 bytes',
  ],
])('survives a program that %s', async (_, code, reason) => {
  const resizer = createPictureResizer({ ...pixels, program: program(code) });
  expect(await resizer.resize(content(), outcomeOf)).toEqual({ kind: 'failed', reason });
});

it('reports why a picture cannot be read', async () => {
  const broken = async function* () {
    yield Buffer.from('begin');
    throw new Error('the line broke');
  };
  const resizer = createPictureResizer({ ...pixels, program: program(NOTHING) });
  expect(await resizer.resize(broken(), outcomeOf)).toEqual({ kind: 'failed', reason: 'the line broke' });
});

it('resizes at most two pictures at a time, and starts the next one after an error', async () => {
  const resizer = createPictureResizer({ ...pixels, program: program(NOTHING) });
  let underWay = 0;
  let most = 0;
  const gates = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
  const all = gates.map(({ promise }, i) =>
    resizer.resize(content(), async () => {
      most = Math.max(most, ++underWay);
      await promise;
      underWay--;
      if (i === 0) throw new Error('the first has no use for it');
    }),
  );
  await expect.poll(() => underWay).toBe(2);
  for (const { resolve } of gates) resolve();
  const results = await Promise.allSettled(all);
  expect(results.map(({ status }) => status)).toEqual(['rejected', ...Array(4).fill('fulfilled')]);
  expect(most).toBe(2);
});

it('passes no environment variables of the server to the program, and removes all files', async () => {
  const reporting = program(
    `process.stdout.write(JSON.stringify({ kind: 'too large', names: Object.keys(process.env), request: process.argv[2] }))`,
  );
  process.env['VARVE_ACCESS_KEY'] = 'secret';
  onTestFinished(() => {
    delete process.env['VARVE_ACCESS_KEY'];
  });
  const outcome = (await createPictureResizer({ ...pixels, program: reporting }).resize(
    content(),
    outcomeOf,
  )) as unknown as { readonly names: readonly string[]; readonly request: string };
  expect(outcome.names.filter((name) => !name.startsWith('__') && name !== 'NODE_COMPILE_CACHE')).toEqual([]);
  const { picture } = JSON.parse(outcome.request) as { readonly picture: string };
  expect(() => readdirSync(join(picture, '..'))).toThrow('ENOENT');
});
