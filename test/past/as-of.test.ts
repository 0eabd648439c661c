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
      link: `<${path}>; rel="original"`,
      'memento-datetime': expect.stringMatching(/GMT$/),
    });
    const etag = String(answer.headers.get('etag'));
    const again = await fetch(server.url + asOf(path, then), { headers: { 'if-none-match': etag } });
    expect(again.status).toBe(304);
    expect(pasts()).toHaveLength(1);
    expect(await data('GET', path)).toMatchObject({ name: 'Now' });

    // From the first token on, callers without the right get the answer to an unknown parameter, also with lenient parameters.
    const token = await data<{ readonly accessKey: string }>('POST', '/_varve/tokens', {
      data: { name: 'site', type: 'read-only' },
    });
    const headers = { authorization: `Bearer ${token.accessKey}` };
    for (const each of ['/api/restaurants', '/api/users', '/api/i18n/locales', '/api/upload/files']) {
      const refused = await fetch(server.url + asOf(each, then - 1n), { headers });
      expect(await refused.json()).toMatchObject({ error: { status: 400, message: 'Invalid key asOf' } });
    }
    const isOpen = (pid: number) => existsSync(join(server.data, `past/world-${pid}`));
    expect(pasts().map(isOpen)).toEqual([true]);
    await server.stop();
    expect(readdirSync(join(server.data, 'past'))).toEqual([]);
  } finally {
    await server.dispose();
  }
});
