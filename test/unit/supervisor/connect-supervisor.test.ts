import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { COMPATIBILITY, type FromWorker, type ToWorker } from '../../../services/supervisor/protocol.ts';

const PROGRAM = join(import.meta.dirname, '../../support/worker-that-stays.ts');

it('a worker that cannot step down says why, and stays until the supervisor stops it', async () => {
  const worker = fork(PROGRAM, { stdio: ['ignore', 'inherit', 'pipe', 'ipc'] });
  onTestFinished(() => void worker.kill('SIGKILL'));
  const said = text(worker.stderr as Readable);
  const tell = (message: ToWorker) => worker.send(message);
  const next = async () => ((await once(worker, 'message')) as [FromWorker])[0].kind;
  tell({ kind: 'hello', compatibility: COMPATIBILITY, restarts: 0, isGreeted: true, secret: '' });
  expect(await next()).toBe('serving');
  tell({ kind: 'yield' });
  expect(await next()).toBe('yielded');
  const exited = once(worker, 'exit');
  tell({ kind: 'stop', reason: 'replaced' });
  expect(await exited).toEqual([0, null]);
  expect(await said).toBe('this worker could not step down: the log cannot be written\n');
});
