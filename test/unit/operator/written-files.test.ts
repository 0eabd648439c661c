import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { exportOperation } from '../../../services/operator/commands.ts';
import type { OperatorContext } from '../../../services/operator/operation.ts';

const NEVER = new AbortController().signal;

function contextOf(command: NonNullable<OperatorContext['command']>): OperatorContext {
  const data = mkdtempSync(join(tmpdir(), 'varve-written-'));
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  return { data, command } as OperatorContext;
}

function exported(context: OperatorContext): Promise<readonly unknown[]> {
  return Array.fromAsync(exportOperation.run(context, { name: 'all.jsonl', strapi: false }, NEVER));
}

it('leaves no file of a command that failed', async () => {
  const context = contextOf(async function* ([, file = '']) {
    writeFileSync(file, 'begun');
    writeFileSync(`${file}.part`, 'begun');
    yield 'begun';
    throw new Error('the disk is full');
  });
  await expect(exported(context)).rejects.toThrow('the disk is full');
  expect(readdirSync(join(context.data, 'transfer'))).toEqual([]);
});

it('does not write twice to one name at the same time, and keeps the first', async () => {
  const over = Promise.withResolvers<void>();
  const context = contextOf(async function* ([, file = '']) {
    await over.promise;
    writeFileSync(file, 'whole');
    yield 'done';
  });
  const first = exported(context);
  await expect(exported(context)).rejects.toThrow('all.jsonl exists already');
  over.resolve();
  expect(await first).toEqual([{ text: 'done' }]);
  await expect(exported(context)).rejects.toThrow('all.jsonl exists already');
  expect(existsSync(join(context.data, 'transfer/all.jsonl'))).toBe(true);
});
