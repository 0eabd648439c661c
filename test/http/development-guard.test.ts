import { request } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { startServer } from '../support/server.ts';

/** Sends a request. fetch does not allow setting Host. */
function ask(url: string, method: string, headers: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
    });
    sent.on('error', reject).end();
  });
}

it('refuses requests from pages of other sites while there are no tokens', async () => {
  const server = await startServer({ env: { VARVE_CORS: 'https://admin.example' } });
  onTestFinished(() => server.dispose());
  const tags = `${server.url}/api/tags`;
  const { port } = new URL(server.url);

  for (const host of [`localhost:${port}`, '127.0.0.1', '[::1]:80', 'site.localhost', 'LOCALHOST']) {
    expect(await ask(tags, 'GET', { host }), host).toBe(200);
  }
  for (const host of ['evil.example', `evil.example:${port}`, 'localhost.evil.example', '10.0.0.1', 'a b']) {
    expect([403, 400], host).toContain(await ask(tags, 'GET', { host }));
  }
  for (const path of [
    '/_varve/tokens',
    '/_varve/leader',
    '/_varve/projections',
    '/metrics',
    '/docs',
    '/openapi.json',
  ]) {
    expect(await ask(server.url + path, 'GET', { host: 'evil.example' }), path).toBe(403);
    expect(await ask(server.url + path, 'GET', { host: 'localhost' }), path).toBe(200);
  }
  expect(await ask(`${server.url}/uploads/none.txt`, 'GET', { host: 'evil.example' })).toBe(403);
  for (const path of ['/_health', '/health/live', '/health/ready'])
    expect(await ask(server.url + path, 'GET', { host: 'evil.example' }), path).toBeLessThan(300);

  const publish = `${tags}/nope/actions/publish`;
  for (const origin of ['http://localhost:3000', `http://127.0.0.1:${port}`, 'https://admin.example']) {
    expect(await ask(publish, 'POST', { origin }), origin).not.toBe(403);
  }
  for (const origin of ['https://evil.example', 'null', 'http://localhost.evil.example']) {
    expect(await ask(publish, 'POST', { origin }), origin).toBe(403);
    expect(await ask(tags, 'GET', { origin }), origin).toBe(200);
  }
});
