import { expect, it, onTestFinished } from 'vitest';
import { listen } from '../../services/http/listen.ts';

async function listenForTest() {
  const listener = await listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => listener.drain(0));
  return listener;
}

it('answers 503 with Retry-After until there is something to serve', async () => {
  const listener = await listenForTest();
  for (const path of ['/_health', '/api/restaurants']) {
    const answer = await fetch(listener.url + path);
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(await answer.json()).toMatchObject({ data: null, error: { name: 'ServiceUnavailableError' } });
  }
  listener.serve((_request, response) => response.writeHead(204).end());
  expect((await fetch(`${listener.url}/_health`)).status).toBe(204);
});

it('says which port is in use', async () => {
  const { port } = new URL((await listenForTest()).url);
  await expect(listen({ host: '127.0.0.1', port: Number(port) })).rejects.toThrow(
    `127.0.0.1:${port} is in use: choose another port with --port`,
  );
});

it('drains: answers what is under way, then refuses connections', async () => {
  const listener = await listen({ host: '127.0.0.1', port: 0 });
  const arrived = Promise.withResolvers<() => void>();
  listener.serve((_request, response) => arrived.resolve(() => response.end('late')));
  const answer = fetch(listener.url);
  const finish = await arrived.promise;
  const drained = listener.drain(60_000);
  finish();
  expect(await (await answer).text()).toBe('late');
  await drained;
  await expect(fetch(listener.url)).rejects.toThrow();
});

it('cuts off what takes longer than the grace', async () => {
  const listener = await listen({ host: '127.0.0.1', port: 0 });
  const arrived = Promise.withResolvers<void>();
  listener.serve(() => arrived.resolve());
  const answer = fetch(listener.url);
  const cut = expect(answer).rejects.toThrow();
  await arrived.promise;
  await listener.drain(10);
  await cut;
});
