import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { holdSocket } from '../../../services/supervisor/held-socket.ts';
import { startWorker } from '../../../services/supervisor/worker-process.ts';

const block = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** Script of a worker that sends two messages and reads none. */
const BUSY = `
  import { writeFileSync } from 'node:fs';
  const block = ${block};
  process.send({ kind: 'greeting' });
  block(50);
  process.send({ kind: 'took' });
  writeFileSync(import.meta.filename + '.sent', '');
  block(100_000);`;

it('has ended although it was killed with a message to read and a socket that it had not taken', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'varve-worker-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const program = join(folder, 'busy.mjs');
  writeFileSync(program, BUSY);
  const socket = await holdSocket({ host: '127.0.0.1', port: 0 });
  onTestFinished(socket.close);
  const heard: string[] = [];
  const greeted = Promise.withResolvers<void>();
  const worker = startWorker(program, [], ({ kind }) => {
    heard.push(kind);
    greeted.resolve();
  });
  await greeted.promise;
  worker.send({ kind: 'connection' }, socket.handle);
  // The supervisor is busy. Afterwards the message, the end of the process and the end of its channel have all arrived.
  while (!existsSync(`${program}.sent`)) block(10);
  worker.kill();
  block(500);
  expect(await worker.ended).toEqual({ code: null, signal: 'SIGKILL' });
  expect(heard).toEqual(['greeting', 'took']);
});
