import { expect, it, onTestFinished } from 'vitest';
import { createApiClient } from '../support/api-client.ts';
import { type Member, startFleet } from '../support/fleet.ts';
import { pauseMember } from '../support/pause-member.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts';

const PATIENT = { timeout: 60_000 };

const tagsOf = ({ received }: Receiver, from = 0) =>
  new Set(received.slice(from).flatMap(({ json }) => json['tags'] as string[]));

/** Reads an answer like a shared cache: its content, and whether it may be kept. */
async function read(member: Member, path: string) {
  const answer = await fetch(member.server().url + path);
  const text = await answer.text();
  return { text, isKept: answer.headers.get('cache-control')?.includes('s-maxage') === true };
}

it('a leader that was paused beyond its lease lets caches keep no old answer when it continues', {
  ...takesMinutes('two leaders that purge'),
  timeout: 240_000,
}, async () => {
  const receiver = await startReceiver();
  const args = ['--cache-tags', 'varnish', '--purge', `webhook=${receiver.url}`];
  const fleet = await startFleet({ size: 2, arguments: args });
  onTestFinished(async () => {
    await fleet.dispose();
    await receiver.close();
  });
  const first = await fleet.leader();
  const second = fleet.members.find((one) => one !== first) as Member;
  const created = await createApiClient(first.server().url).data<{ documentId: string }>(
    'POST',
    '/api/tags',
    { data: { key: 'before' } },
  );
  const path = `/api/tags/${created.documentId}`;
  const plain = `tags:${created.documentId}`;
  await expect.poll(() => tagsOf(receiver).has(plain), PATIENT).toBe(true);
  await expect.poll(async () => (await read(first, path)).isKept, PATIENT).toBe(true);
  expect((await read(second, path)).isKept).toBe(false);
  const [all] = (receiver.received[0]?.json['tags'] ?? []) as string[];

  const write = async (member: Member, key: string) => {
    const put = () =>
      fetch(member.server().url + path, {
        method: 'PUT',
        headers: { 'content-type': 'application/json', 'idempotency-key': `key-${key}` },
        body: JSON.stringify({ data: { key } }),
      }).then(({ status }) => status);
    await expect.poll(put, PATIENT).toBe(200);
  };
  await pauseMember(fleet, first);
  let from = receiver.received.length;
  await write(second, 'after');
  // The next leader does not know what the first one has purged, so it purges everything.
  await expect.poll(() => tagsOf(receiver, from).has(String(all)), PATIENT).toBe(true);
  await expect.poll(async () => (await read(second, path)).isKept, PATIENT).toBe(true);

  first.server().signal('SIGCONT');
  const seen = await Promise.all(Array.from({ length: 50 }, () => read(first, path)));
  expect(seen.filter(({ text, isKept }) => isKept && !text.includes('"key":"after"'))).toEqual([]);
  await expect.poll(async () => (await read(first, path)).text, PATIENT).toContain('"key":"after"');
  from = receiver.received.length;
  await write(first, 'forwarded');
  await expect.poll(() => tagsOf(receiver, from).has(plain), PATIENT).toBe(true);
  expect((await read(first, path)).isKept).toBe(false);

  // The first leader does not know what the second one purged, so it purges everything when it is leader again.
  receiver.answer(() => ({ status: 503 }));
  await write(second, 'unpurged');
  await pauseMember(fleet, second);
  from = receiver.received.length;
  receiver.answer(() => ({ status: 200 }));
  await write(first, 'last');
  await expect.poll(() => tagsOf(receiver, from).has(String(all)), PATIENT).toBe(true);
  second.server().signal('SIGCONT');
  expect((await read(first, path)).text).toContain('"key":"last"');
});
