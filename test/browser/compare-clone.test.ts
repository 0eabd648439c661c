import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { whyNoBrowser } from '../support/chromium.ts';
import { type SkipOptions, takesMinutes } from '../support/takes-minutes.ts';

const whyNot = whyNoBrowser();
const skip: SkipOptions = whyNot === undefined ? {} : { skip: true, meta: { skipReason: whyNot } };

const BUILD = `const answer = await fetch(process.env.API_URL + '/api/title');
const { data } = await answer.json();
await (await import('node:fs/promises')).writeFile('page.html', '<!doctype html><title>Site</title><p>' + data);`;
const SERVE = `import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
createServer((_, answer) => answer.setHeader('content-type', 'text/html').end(readFileSync('page.html'))).listen(process.env.PORT);`;

async function startApi(title: string): Promise<string> {
  const server = createServer((_request, answer) => answer.end(JSON.stringify({ data: title })));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('a clone of a front end', { ...skip, ...takesMinutes('builds of a front end') }, () => {
  it('is built for both APIs, compared, and left unchanged', { timeout: 300_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'varve-clone-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const scripts = { build: 'node build.mjs', preview: 'node serve.mjs' };
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'site', type: 'module', scripts }));
    writeFileSync(join(folder, 'build.mjs'), BUILD);
    writeFileSync(join(folder, 'serve.mjs'), SERVE);
    const compare = async (strapi: string, varve: string) => {
      const apis = ['--strapi', strapi, '--varve', varve];
      const args = ['--folder', folder, '--variable', 'API_URL', '--pages', '/,/more', ...apis];
      const child = spawn(process.execPath, ['test/front-ends/compare-clone.ts', ...args]);
      const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
      return { code: child.exitCode, output };
    };
    const [one, same, other] = await Promise.all(['Sun', 'Sun', 'Moon'].map(startApi));
    const equal = await compare(String(one), String(same));
    expect(equal, equal.output).toMatchObject({ code: 0 });
    expect(equal.output).toContain('2 pages equal, 0 different');
    const different = await compare(String(one), String(other));
    expect(different.code).toBe(1);
    expect(different.output).toContain('Moon');
    expect(existsSync(join(folder, 'page.html'))).toBe(false);
  });
});
