import { expect, it, onTestFinished } from 'vitest';
import { createApiClient } from '../support/api-client.ts';
import { createNextSite, longWithNext } from '../support/next-site.ts';
import { startServer } from '../support/server.ts';

const PATIENT = { timeout: 60_000 };
const RETRY = ['--webhook-retry', Array(1_000).fill('0.3').join()];

it('the route in the docs purges answers after signed webhooks, also after those that did not reach the site', {
  ...longWithNext('a real Next.js that receives webhooks'),
  timeout: 900_000,
}, async () => {
  const site = await createNextSite();
  const server = await startServer({ arguments: RETRY });
  onTestFinished(() => server.dispose());
  onTestFinished(site.stop);
  const api = createApiClient(server.url);
  const hookUrl = `${site.url}/api/webhook`;
  const data = { url: hookUrl, allowPrivate: true };
  const { id, secret } = await api.data<{ id: string; secret: string }>('POST', '/_varve/webhooks', { data });
  const states = async (): Promise<readonly string[]> => {
    const path = `/_varve/webhooks/${id}/deliveries`;
    return (await api.data<readonly { state: string }[]>('GET', path)).map(({ state }) => state);
  };
  const delivered = (count: number) => expect.poll(states, PATIENT).toEqual(Array(count).fill('delivered'));
  const shown = async () => (await fetch(`${site.url}/by-model`)).text();
  const rename = (documentId: string, name: string) =>
    api.data('PUT', `/api/tags/${documentId}`, { data: { name } });

  // The site does not run yet.
  const { documentId } = await api.data<{ documentId: string }>('POST', '/api/tags', {
    data: { key: 'a', name: 'first' },
  });
  await expect.poll(states, PATIENT).toEqual(['waiting']);
  await site.start(server.url, { webhookSecret: secret });
  await delivered(1);
  expect(await shown()).toContain('"name":"first"');

  // The site ignores a body that Varve did not sign.
  await api.call('POST', `/_varve/webhooks/${id}/pause`);
  await rename(documentId, 'second');
  const forged = await fetch(hookUrl, {
    method: 'POST',
    headers: { 'webhook-id': 'wh_1', 'webhook-timestamp': '1', 'webhook-signature': 'v1,AAAA' },
    body: '{"model":"tag"}',
  });
  expect(forged.status).toBe(401);
  expect(await shown()).toContain('"name":"first"');

  await api.call('POST', `/_varve/webhooks/${id}/resume`);
  await delivered(2);
  expect(await shown()).toContain('"name":"second"');

  // Changes of another content type do not affect the answers.
  await api.call('POST', `/_varve/webhooks/${id}/pause`);
  await rename(documentId, 'third');
  await api.call('POST', `/_varve/webhooks/${id}/test`);
  expect(await shown()).toContain('"name":"second"');
  await api.call('POST', `/_varve/webhooks/${id}/resume`);
  await delivered(3);
  expect(await shown()).toContain('"name":"third"');
});
