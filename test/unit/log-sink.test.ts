import { execFileSync, spawn } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { createLogSink } from '../../services/cli/output/log-sink.ts';
import { freePort } from '../support/elasticsearch-node.ts';

/** Opens both ends of a pipe in non-blocking mode. */
function openPipe(): { readonly reader: number; readonly writer: number } {
  const folder = mkdtempSync(join(tmpdir(), 'varve-pipe-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return { reader, writer: openSync(path, constants.O_WRONLY | constants.O_NONBLOCK) };
}

function readAll(fd: number): string {
  const chunk = Buffer.alloc(65_536);
  let text = '';
  try {
    for (let count = 1; count > 0; ) {
      count = readSync(fd, chunk);
      text += chunk.toString('utf8', 0, count);
    }
  } catch {
    // The pipe is empty for now.
  }
  return text;
}

it('keeps lines for a slow reader, complete and in order, and drops those above the limit', async () => {
  const { reader, writer } = openPipe();
  const sink = createLogSink(writer, { keep: 100_000, retryMs: 5 });
  const line = (n: number) => `${n} ${'x'.repeat(500)}\n`;
  for (let n = 0; n < 1_000; n++) sink.write(line(n));
  let text = '';
  for (let looks = 0; looks < 40; looks++) {
    text += readAll(reader);
    await delay(5);
  }
  const count = text.split('\n').length - 1;
  expect(count).toBeGreaterThan(200);
  expect(count).toBeLessThan(1_000);
  expect(text).toBe(Array.from({ length: count }, (_, n) => line(n)).join(''));
  sink.write('again\n');
  expect(readAll(reader)).toBe('again\n');
});

it('drops lines that nobody can read, and those of a full disk', () => {
  const { reader, writer } = openPipe();
  closeSync(reader);
  const closed = createLogSink(writer);
  const full = createLogSink(openSync('/dev/full', 'w'));
  for (let n = 0; n < 10; n++) {
    closed.write('a\n');
    full.write('a\n');
  }
});

it('does not change answers and the exit code if output cannot be written', async () => {
  const data = mkdtempSync(join(tmpdir(), 'varve-mute-'));
  onTestFinished(() => rmSync(data, { recursive: true }));
  for (const [name, output] of [
    ['full', openSync('/dev/full', 'w')],
    ['closed', 'pipe'],
  ] as const) {
    const port = await freePort();
    const args = [
      'services/cli/varve.ts',
      'serve',
      '--content-types',
      'examples/restaurants',
      '--port',
      String(port),
    ];
    const child = spawn(
      process.execPath,
      [...args, '--data', join(data, name), '--slow-query-ms', '1', '--log-level', 'trace'],
      {
        stdio: ['ignore', output, output],
      },
    );
    onTestFinished(() => void child.kill('SIGKILL'));
    child.stdout?.destroy();
    child.stderr?.destroy();
    const url = `http://127.0.0.1:${port}`;
    while ((await fetch(`${url}/_health`).catch(() => undefined))?.status !== 204) await delay(20);
    const stale = await fetch(`${url}/api/restaurants`, { headers: { 'varve-min-position': 'x' } });
    expect(stale.status).toBe(400);
    const exited = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
    child.kill('SIGTERM');
    expect(await exited).toEqual({ code: 0, signal: null });
  }
});
