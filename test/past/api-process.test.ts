import { expect, it, onTestFinished } from 'vitest';
import { PAST_ARGUMENT } from '../../services/supervisor/past-child.ts';
import { createApiClient } from '../support/api-client.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { startElasticsearchFleet } from '../support/elasticsearch-fleet.ts';
import { asOf, readWhole } from '../support/past-requests.ts';
import { argumentsOf, processTree } from '../support/processes.ts';

/** A process of `varve api` has no data directory: the leader, here a `varve project`, answers about the past. */
const OPTIONS = { ...(await needsElasticsearch()), timeout: 300_000 };

type Version = { readonly id: string; readonly action: string; readonly changed: readonly string[] | null };

it('answers the history and reads as of a moment through varve api', OPTIONS, async () => {
  const fleet = await startElasticsearchFleet({
    url: await elasticsearchUrl(),
    space: `past_${process.pid}`,
    projects: 1,
    apis: 1,
  });
  onTestFinished(() => fleet.dispose());
  const [api] = fleet.apis;
  const url = api?.server().url ?? '';
  const leader = (await fleet.leader()).server();
  const pasts = () =>
    processTree(leader.supervisor).filter((pid) => argumentsOf(pid).includes(PAST_ARGUMENT));
  const { call, data } = createApiClient(url);
  const { documentId } = await data<{ documentId: string }>('POST', '/api/tags', {
    data: { key: 'a', name: 'first' },
  });
  const path = `/api/tags/${documentId}`;
  const renamed = await call('PUT', path, { data: { name: 'second' } });
  const then = BigInt(String(renamed.headers.get('varve-position')));
  const truth = await Promise.all(['/api/tags', path].map((each) => readWhole(url, each)));
  expect(truth).toMatchObject([{ status: 200 }, { status: 200, body: expect.stringContaining('second') }]);
  await data('PUT', path, { data: { name: 'third' } });

  // The history.
  const versions = await data<readonly Version[]>('GET', `${path}/versions`);
  expect(versions.filter(({ action }) => action === 'update')).toHaveLength(2);
  const second = versions.find(({ id }) => BigInt(id) <= then);
  expect(await data('GET', `${path}/versions/${second?.id}`)).toMatchObject({ name: 'second' });
  const { changed } = await data<{ readonly changed: readonly object[] }>(
    'GET',
    `${path}/versions/${second?.id}/diff?with=current`,
  );
  expect(changed).toContainEqual(expect.objectContaining({ path: 'name', from: 'second', to: 'third' }));
  expect(await call('GET', `${path}/versions/1`)).toMatchObject({ status: 404 });
  await data('POST', `${path}/actions/restore`, { data: { version: second?.id } });
  expect(await data('GET', `${path}?status=draft`)).toMatchObject({ name: 'second' });
  await call('DELETE', path);
  expect(await data('GET', '/api/tags/_deleted')).toMatchObject([{ documentId, name: 'second' }]);

  // The past.
  expect(pasts()).toEqual([]);
  expect(await readWhole(url, asOf('/api/tags', 'x'))).toMatchObject({ status: 400 });
  expect(pasts()).toEqual([]);
  const past = await Promise.all(['/api/tags', path].map((each) => readWhole(url, asOf(each, then))));
  expect(past).toEqual(truth);
  expect(pasts()).toHaveLength(1);
  const answer = await fetch(url + asOf(path, then));
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'varve-position': String(then),
    'memento-datetime': expect.stringMatching(/GMT$/),
    link: `<${path}>; rel="original", </_varve/timegate${path}>; rel="timegate"`,
    'cache-control': 'private, no-cache',
  });
  const known = { 'if-none-match': String(answer.headers.get('etag')) };
  expect((await fetch(url + asOf(path, then), { headers: known })).status).toBe(304);
  expect((await fetch(url + asOf(path, then), { method: 'HEAD' })).status).toBe(200);
  expect(await readWhole(url, asOf('/api/tags?sort=nothing', then))).toMatchObject({
    status: 400,
    body: expect.stringContaining('nothing'),
  });
  const at = String(answer.headers.get('memento-datetime'));
  const gate = await fetch(`${url}/_varve/timegate${path}`, {
    headers: { 'accept-datetime': at },
    redirect: 'manual',
  });
  expect(gate.status).toBe(302);

  // A caller without the right learns nothing, here and from the leader.
  const token = await data<{ readonly accessKey: string }>('POST', '/_varve/tokens', {
    data: { name: 'site', type: 'read-only' },
  });
  const headers = { authorization: `Bearer ${token.accessKey}` };
  expect(await readWhole(url, asOf('/api/tags', then), headers)).toMatchObject({
    status: 400,
    body: expect.stringContaining('Invalid key asOf'),
  });
  for (const each of [`${path}/versions`, `/_varve/timegate${path}`])
    expect(await readWhole(url, each, headers)).toMatchObject({ status: 404 });
  const forged = { position: String(then), method: 'GET', url: '/api/tags', headers: {} };
  for (const base of [url, leader.url]) {
    const sent = { method: 'POST', body: JSON.stringify(forged) };
    const json = { ...headers, 'content-type': 'application/json' };
    expect((await fetch(`${base}/_varve/past`, { ...sent, headers: json })).status).toBe(404);
  }
});
