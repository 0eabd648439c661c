import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { openFirstCopy } from '../../../services/follow/first-copy.ts';
import { isMassDeletion } from '../../../services/follow/reconcile.ts';

const folder = mkdtempSync(join(tmpdir(), 'varve-first-copy-'));
const file = join(folder, 'first-copy.json');
afterAll(() => rmSync(folder, { recursive: true }));
beforeEach(() => rmSync(file, { force: true }));

let rows = 0;
const open = () => openFirstCopy(file, () => rows === 0);

it('imports first, then copies, and never repeats either', () => {
  rows = 0;
  const copy = open();
  expect(copy.phase()).toBe('import');
  expect(copy.begin(1)).toBe('import');
  copy.enter('copy');
  rows = 10;
  copy.enter('done');
  expect(open().begin(2)).toBe('done');
});

it.each(['import', 'copy'] as const)('continues in the phase %s after a kill', (phase) => {
  rows = 0;
  const killed = open();
  killed.begin(1);
  rows = 5;
  killed.enter(phase);
  const next = open();
  expect(next.phase()).toBe(phase);
  expect(next.begin(2)).toBe(phase);
});

it('does not change a copy that another leader made in the meantime', () => {
  rows = 0;
  open().begin(1);
  rows = 5;
  expect(open().begin(3)).toBe('done');
  expect(open().phase()).toBe('done');
});

it('is complete if rows were stored before, and begins again if they do not exist any more', () => {
  rows = 5;
  expect(open().begin(7)).toBe('done');
  rows = 0;
  expect(open().begin(8)).toBe('import');
});

it('ignores a truncated file', () => {
  rows = 5;
  writeFileSync(file, '{"phase":');
  expect(open().begin(1)).toBe('done');
});

it.each([
  { gone: 10, stored: 10, share: 0.3, isMany: false },
  { gone: 11, stored: 11, share: 0.3, isMany: true },
  { gone: 30, stored: 100, share: 0.3, isMany: false },
  { gone: 31, stored: 100, share: 0.3, isMany: true },
  { gone: 100, stored: 100, share: 1, isMany: false },
])(
  'reports whether $gone of $stored missing rows exceed a share of $share: $isMany',
  ({ gone, stored, share, isMany }) => {
    expect(isMassDeletion(gone, stored, share)).toBe(isMany);
  },
);
