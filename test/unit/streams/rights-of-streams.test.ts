import { fastify } from 'fastify';
import { expect, it, onTestFinished } from 'vitest';
import { createEventStreams, STREAM_LIMITS } from '../../../services/http/streams/event-streams.ts';
import { countOwnStreams } from '../../../shared/count-streams.ts';
import { openEvents } from '../../support/event-source.ts';

/** Starts streams whose callers are users, and returns how often rights were read. */
async function startStreams(expires?: number) {
  const rights = new Map<string, string>();
  const read: (string | undefined)[] = [];
  const watchers: ((users?: ReadonlySet<string>) => void)[] = [];
  const streams = createEventStreams({
    limits: STREAM_LIMITS,
    counts: countOwnStreams(),
    rightsOf(authorization) {
      read.push(authorization);
      return rights.get(String(authorization)) ?? 'all';
    },
    watchRights: (changed) => void watchers.push(changed),
  });
  const app = fastify();
  app.get('/:user', async (request, reply) => {
    const { user } = request.params as { readonly user: string };
    await streams.open(request, reply, { id: user, authorization: user, rights: 'all', user, expires });
  });
  const url = await app.listen({ port: 0 });
  onTestFinished(() => app.close());
  const open = async (user: string) => {
    const reader = await openEvents(`${url}/${user}`);
    onTestFinished(reader.close);
    await expect.poll(() => read).toContain(user);
    return reader;
  };
  const changed = (users?: ReadonlySet<string>) => {
    for (const watcher of watchers) watcher(users);
  };
  return { streams, rights, read, open, changed };
}

it('ends the streams of a user whose rights change, and reads no other rights', async () => {
  const { streams, rights, read, open, changed } = await startStreams();
  const [ann, bob] = [await open('ann'), await open('bob')];
  read.length = 0;
  rights.set('ann', 'none');
  changed(new Set(['ann', 'carl']));
  await ann.until(() => ann.isEnded());
  await expect.poll(streams.count).toBe(1);
  changed(new Set(['bob']));
  await streams.verify();
  expect([read, bob.isEnded(), streams.count()]).toEqual([['ann', 'bob'], false, 1]);
});

it('ends all streams whose rights change with tokens and roles', async () => {
  const { streams, rights, open, changed } = await startStreams();
  const [ann, bob] = [await open('ann'), await open('bob')];
  rights.set('ann', 'none').set('bob', 'none');
  changed();
  await streams.verify();
  for (const reader of [ann, bob]) await reader.until(() => reader.isEnded());
});

it('reads no rights while nothing changes', async () => {
  const { read, open } = await startStreams();
  await open('ann');
  read.length = 0;
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(read).toEqual([]);
});

it('ends a stream when its credentials expire', async () => {
  const { open } = await startStreams(Date.now() + 2_000);
  const ann = await open('ann');
  await ann.until(() => ann.isEnded());
});
