import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createEarlierLog, readEarlierAnswers } from '../support/earlier-log.ts';
import { startServer } from '../support/server.ts';

test('a log of the earlier release is upgraded in place, and the answers are those of that release, byte for byte', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'varve-earlier-'));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const data = join(parent, 'data');
  mkdirSync(data);
  createEarlierLog(join(data, 'events.db')).close();
  const { token, accessKey, answers } = readEarlierAnswers();
  for (const start of ['upgraded', 'started again']) {
    const server = await startServer({ data, arguments: ['--access-key', accessKey] });
    onTestFinished(() => server.dispose());
    const found: Record<string, unknown> = {};
    for (const path of Object.keys(answers)) {
      const isAnonymous = path.startsWith('anonymous ');
      const answer = await fetch(server.url + path.replace('anonymous ', ''), {
        headers: isAnonymous ? {} : { authorization: `Bearer ${token}` },
      });
      found[path] = { status: answer.status, body: await answer.text() };
    }
    expect(found, start).toEqual(answers);
    await server.stop();
  }
});
