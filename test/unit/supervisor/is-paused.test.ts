import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { isPaused } from '../../../services/supervisor/is-paused.ts';

it('distinguishes a process that SIGSTOP has stopped from one that runs, sleeps or has ended', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'spawn');
  const pid = child.pid ?? 0;
  expect(isPaused(process.pid)).toBe(false);
  expect(isPaused(pid)).toBe(false);
  child.kill('SIGSTOP');
  await expect.poll(() => isPaused(pid)).toBe(true);
  child.kill('SIGCONT');
  await expect.poll(() => isPaused(pid)).toBe(false);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(isPaused(pid)).toBe(false);
});
