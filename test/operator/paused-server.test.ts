import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isOtherProcess } from '../../shared/other-process.ts';
import { runVarve } from '../support/run-varve.ts';
import { CONFORMANCE_SCHEMA, createDataDirectory, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const MINUTES_MS = 300_000;

describe('a paused server', takesMinutes('a minute in which a paused server sends nothing'), () => {
  const endsEveryCommand = async (which: 'server' | 'worker') => {
    const server = await startServer();
    onTestFinished(() => server.dispose());
    const folder = createDataDirectory();
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const lines = join(folder, 'lines.jsonl');
    const norway = { type: 'country', key: 'no', state: 'live', data: { key: 'no', name: 'Norway' } };
    writeFileSync(lines, `${JSON.stringify(norway)}\n`);
    const { supervisor } = server;
    const worker = server.worker() ?? 0;
    onTestFinished(() => {
      // The rebuild has replaced this worker, unless the test failed before.
      if (isOtherProcess(worker)) process.kill(worker, 'SIGCONT');
    });
    if (which === 'server') server.signal('SIGSTOP');
    else process.kill(worker, 'SIGSTOP');
    const commands = [
      ['status'],
      ['rebuild', '--graph'],
      ['rollback'],
      ['verify'],
      ['import', lines, '--content-types', CONFORMANCE_SCHEMA],
    ];
    const ended = await Promise.all(commands.map((each) => runVarve([...each, '--data', server.data])));
    for (const { code, stderr } of ended) {
      expect(stderr).toContain(`process ${supervisor}, has sent nothing for a minute`);
      expect(stderr).not.toMatch(/\n {4}at /);
      expect(code).toBe(1);
    }
    if (which === 'server') server.signal('SIGCONT');
    else process.kill(worker, 'SIGCONT');
    for (const each of commands.filter(([name]) => name !== 'rollback')) {
      const { code, stdout, stderr } = await runVarve([...each, '--data', server.data]);
      expect(code, stdout + stderr).toBe(0);
    }
  };

  // Both at once: each mostly waits for its minute.
  it(
    'ends every command with what to do, and loses nothing: the server, and the worker',
    async () => {
      await Promise.all([endsEveryCommand('server'), endsEveryCommand('worker')]);
    },
    MINUTES_MS,
  );
});
