import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PAST_ARGUMENT } from '../../services/supervisor/past-child.ts';
import { createApiClient } from '../support/api-client.ts';
import { startOnCorpus } from '../support/loaded-corpus.ts';
import { asOf, readsFor, readWhole } from '../support/past-requests.ts';
import { argumentsOf, processTree } from '../support/processes.ts';

type Restaurant = { readonly documentId: string; readonly name: string };

const SHOWN = '/api/restaurants?sort=name&pagination[pageSize]=2';

it('answers reads as of a moment as they were answered then, and only callers with the right start a process', async () => {
  const server = await startOnCorpus({ arguments: ['--strict-params', 'false'] });
  try {
    const { call, data } = createApiClient(server.url);
    const pasts = () =>
      processTree(server.supervisor).filter((pid) => argumentsOf(pid).includes(PAST_ARGUMENT));
    const [first, second] = await data<readonly [Restaurant, Restaurant]>('GET', SHOWN);
    const path = `/api/restaurants/${first.documentId}`;
    const written = await call('PUT', path, { data: { name: 'Then' } });
    const then = BigInt(String(written.headers.get('varve-position')));
    const paths = readsFor(7, 40);
    const before = await Promise.all(paths.map((each) => readWhole(server.url, each)));
    await data('PUT', path, { data: { name: 'Now' } });
    await call('DELETE', `/api/restaurants/${second.documentId}`);

    const unknown = await call('GET', asOf('/api/restaurants', '12x'));
    expect(unknown).toMatchObject({ status: 400, error: { details: { param: 'asOf', found: '12x' } } });
    const written2 = await call('POST', asOf('/api/restaurants', then), { data: { name: 'no' } });
    expect(written2).toMatchObject({ status: 400, error: { code: 'not-supported' } });
    expect(pasts()).toEqual([]);

    const after = await Promise.all(paths.map((each) => readWhole(server.url, asOf(each, then))));
    expect(after).toEqual(before);
    const answer = await call<Restaurant>('GET', asOf(path, then));
    expect(answer.data).toMatchObject({ name: 'Then' });
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'varve-position': String(then),
      'cache-control': 'private, no-cache',
      link: `<${path}>; rel="original", </_varve/timegate${path}>; rel="timegate"`,
      'memento-datetime': expect.stringMatching(/GMT$/),
    });
    const etag = String(answer.headers.get('etag'));
    const again = await fetch(server.url + asOf(path, then), { headers: { 'if-none-match': etag } });
    expect(again.status).toBe(304);
    expect(pasts()).toHaveLength(1);
    expect(await data('GET', path)).toMatchObject({ name: 'Now' });
    // A long address is not repeated in the headers, which clients limit.
    const long = `/api/restaurants?filters[name]=${'a'.repeat(2_000)}`;
    expect(await call('GET', asOf(long, then))).toMatchObject({ status: 200, data: [] });
    expect((await call('GET', asOf(long, then))).headers.has('link')).toBe(false);

    // The TimeGate: the time of an answer leads to that answer, and a time out of range to the nearest one.
    const gate = (at: string | undefined, target = `${path}?fields=name`) =>
      fetch(`${server.url}/_varve/timegate${target}`, {
        redirect: 'manual',
        headers: at === undefined ? {} : { 'accept-datetime': at },
      });
    const whither = async (at: string | undefined) => {
      const { status, headers } = await gate(at);
      expect([status, headers.get('vary')]).toEqual([302, 'accept-datetime']);
      expect(headers.get('link')).toBe(`<${path}?fields=name>; rel="original"`);
      expect(headers.has('memento-datetime')).toBe(false);
      return /^(.*)[?&]asOf=(\d+)$/.exec(headers.get('location') ?? '')?.slice(1);
    };
    const at = String(answer.headers.get('memento-datetime'));
    const [target, found] = (await whither(at)) ?? [];
    expect(target).toBe(`${path}?fields=name`);
    // The last event of that second.
    expect(Number(found)).toBeGreaterThanOrEqual(Number(then));
    expect((await whither('Thu, 01 Jan 1970 00:00:00 GMT'))?.[1]).toBe('1');
    const end = (await whither('Fri, 01 Jan 2100 00:00:00 GMT'))?.[1];
    expect(Number(end)).toBeGreaterThan(Number(then));
    expect((await whither(undefined))?.[1]).toBe(end);
    expect((await gate('yesterday')).status).toBe(400);
    for (const other of ['//example.org/', '/_varve/tokens'])
      expect((await gate(at, other)).status).toBe(404);

    // From the first token on, callers without the right get the answer to an unknown parameter, also with lenient parameters.
    const token = await data<{ readonly accessKey: string }>('POST', '/_varve/tokens', {
      data: { name: 'site', type: 'read-only' },
    });
    const headers = { authorization: `Bearer ${token.accessKey}` };
    for (const each of ['/api/restaurants', '/api/users', '/api/i18n/locales', '/api/upload/files']) {
      const refused = await fetch(server.url + asOf(each, then - 1n), { headers });
      expect(await refused.json()).toMatchObject({ error: { status: 400, message: 'Invalid key asOf' } });
    }
    const gated = await fetch(`${server.url}/_varve/timegate/api/restaurants`, { headers });
    const missing = await fetch(`${server.url}/_varve/nothing/api/restaurants`, { headers });
    expect([gated.status, await gated.text()]).toEqual([404, await missing.text()]);
    const isOpen = (pid: number) => existsSync(join(server.data, `past/world-${pid}`));
    expect(pasts().map(isOpen)).toEqual([true]);
    await server.stop();
    expect(readdirSync(join(server.data, 'past'))).toEqual([]);
  } finally {
    await server.dispose();
  }
});
