import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type LoosePromise, loosePromises, loosePromisesOf } from '../support/loose-promises.ts';

const CHECKOUT = path.resolve(import.meta.dirname, '../..');
const ADVICE = `A failure of these promises may reach nobody. Await them at once or together (Promise.all), attach a handler (.catch), or say above
the statement why none is needed: "Never rejects: …", "Ends the process: …" or "The caller handles …".\n`;

it('every promise of this checkout is handled', { timeout: 180_000 }, () => {
  const found = loosePromises(CHECKOUT);
  const listed = found.map(({ kind, place, text }) => `${kind} ${place} ${text}`).join('\n');
  expect(found, ADVICE + listed).toEqual([]);
});

const DECLARED = `
declare function work(n?: number): Promise<number>;
declare function other(): Promise<void>;
declare function on(event: string, listener: () => void): void;
declare function every(listener: () => void | Promise<void>): void;
`;

/** Bodies of an async function, each with the kind of the promise that is loose in it. */
const LOOSE: Readonly<Record<string, LoosePromise['kind']>> = {
  'work();': 'floating',
  'void work();': 'floating',
  'work().then(() => other());': 'floating',
  'work().catch(() => 0).then(() => other());': 'floating',
  'work().finally(() => {});': 'floating',
  'const end = () => void work(); end();': 'floating',
  'const first = work(); await other(); return first;': 'late',
  'const first = work(); await other(); await first;': 'late',
  'const all = [1, 2].map(async (n) => work(n)); await other(); return await Promise.all(all);': 'late',
  'const all = [1, 2].map((n) => work(n)); const more = await other(); return Promise.all(all);': 'late',
  'for (let n = 0; n < 2; n++) { const one = work(); for await (const _ of [other()]) await one; }': 'late',
  'const all = [work(), work()]; await other(); await Promise.all(all);': 'late',
  'const [one, two] = [work(), work()]; await one; await two;': 'late',
  'const kept = work(); return { later: () => kept };': 'kept',
  'let kept: Promise<number> | undefined; kept ??= work(); await other(); await kept;': 'kept',
  'const made = { later: work() }; await other(); return made;': 'kept',
  'const list: Promise<number>[] = []; list.push(work()); await other(); await Promise.all(list);': 'kept',
  "on('end', async () => void (await work()));": 'misused',
  "on('end', other);": 'misused',
};

/** Bodies in which every promise is handled. */
const HANDLED: readonly string[] = [
  'await work();',
  'return work();',
  'const first = work(); const second = other(); await Promise.all([first, second]);',
  'const [a, b] = await Promise.all([work(), other()]); return [a, b];',
  'const first = work(); first.catch(() => {}); await other(); await first;',
  'const first = work().catch(() => 0); await other(); return first;',
  'work().then(() => {}, () => {});',
  'work().catch(() => {}).finally(() => {});',
  'let kept: Promise<number> | undefined; kept ??= work(); return kept;',
  'let kept: Promise<number> | undefined; kept ??= work(); return 1 + (await kept);',
  'const rested = Promise.resolve(); await other(); await rested;',
  "on('end', () => {});",
  'every(other);',
  '// Never rejects: it handles its own failures.\n  void work();',
  '// Ends the process: the content would be stale.\n  void work();',
];

/** Returns the kinds of the loose promises in each body. */
function kindsIn(bodies: readonly string[]): readonly (readonly string[])[] {
  const folder = mkdtempSync(path.join(tmpdir(), 'varve-promises-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const compilerOptions = { target: 'esnext', lib: ['esnext'], types: [], strict: true, noEmit: true };
  const tsconfig = path.join(folder, 'tsconfig.json');
  writeFileSync(tsconfig, JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  bodies.forEach((body, n) => {
    writeFileSync(
      path.join(folder, `case-${n}.ts`),
      `${DECLARED}export async function run() {\n  ${body}\n}\n`,
    );
  });
  const found = loosePromisesOf(tsconfig, (file) => file.startsWith(`${folder}/case-`));
  return bodies.map((_, n) =>
    found.filter(({ place }) => place.startsWith(`case-${n}.ts:`)).map(({ kind }) => kind),
  );
}

it('finds promises that are not awaited, awaited late, kept, or returned to nobody', () => {
  const bodies = Object.keys(LOOSE);
  const kinds = kindsIn(bodies);
  const named = Object.fromEntries(bodies.map((body, n) => [body, kinds[n]]));
  expect(named).toEqual(Object.fromEntries(Object.entries(LOOSE).map(([body, kind]) => [body, [kind]])));
});

it('accepts promises that are handled, and those with a reason', () => {
  const kinds = kindsIn(HANDLED);
  const named = Object.fromEntries(HANDLED.map((body, n) => [body, kinds[n]]));
  expect(named).toEqual(Object.fromEntries(HANDLED.map((body) => [body, []])));
});
