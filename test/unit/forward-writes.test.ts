import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import fastify from 'fastify';
import { expect, it, onTestFinished, vi } from 'vitest';
import { NotLeading } from '../../services/command/not-leading.ts';
import type { LeaderLocation } from '../../services/fleet/leadership.ts';
import { openMembership } from '../../services/fleet/membership.ts';
import { presentError } from '../../services/http/answers/error-envelope.ts';
import { type ForwardingOptions, forwardWrites } from '../../services/http/forwarding/forward-writes.ts';
import { type Forwarding, openForwarding } from '../../services/http/forwarding/open-forwarding.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { schemasOf } from './command-world.ts';

/** Limit of a write's wait for a leader. AGAIN_MS is the pause between two looks. */
const WAIT_MS = 10_000;
/** The same while the next leader converts rows. */
const CONVERSION_WAIT_MS = 300_000;
const AGAIN_MS = 100;
/** A leader steps down after so long without a write in flight. */
const MOMENT_MS = 300;

/** Replaces the clock by one that the test moves. */
function stopClock(): { at: number } {
  const clock = { at: Math.ceil(performance.now()) };
  vi.spyOn(performance, 'now').mockImplementation(() => clock.at);
  onTestFinished(() => void vi.restoreAllMocks());
  return clock;
}

function forwardingOf(fleet: ForwardingOptions['fleet'], isConverting = () => false): Forwarding {
  const folder = mkdtempSync(join(tmpdir(), 'varve-forward-'));
  const log = openSqliteEventStore(join(folder, 'log.db'), { space: 'varve' });
  onTestFinished(async () => {
    await log.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const membership = openMembership({ log, space: 'varve', owner: randomUUID(), key: randomBytes(32) });
  return openForwarding({ fleet, membership, bodyKey: randomBytes(32), metrics: undefined, isConverting });
}

/** Starts a process with one route that writes. */
function startProcess(fleet: ForwardingOptions['fleet'], isConverting?: () => boolean) {
  const { registry } = schemasOf({ tag: { attributes: { name: { type: 'string' } } } });
  const app = fastify();
  onTestFinished(() => app.close());
  app.decorateRequest('command');
  app.decorateRequest('sentJson');
  app.decorateRequest('isElsewhere', false);
  app.setErrorHandler((error, _request, reply) => {
    const body = presentError(error);
    reply.code(body.error.status).send(body);
  });
  app.register(async (scope) => {
    forwardWrites(scope, forwardingOf(fleet, isConverting), registry);
    scope.post('/api/tags', async (request) => {
      if (request.isElsewhere) throw new NotLeading();
      return { data: 'here' };
    });
  });
  return () => app.inject({ method: 'POST', url: '/api/tags' });
}

it(`a write waits ${WAIT_MS} ms for a leader, and is a 503 then`, async () => {
  const clock = stopClock();
  let looks = 0;
  const write = startProcess({
    leader: () => ({ kind: 'nobody' }),
    async changed(ms) {
      looks += 1;
      clock.at += ms;
    },
  });
  const { statusCode, body } = await write();
  expect([statusCode, JSON.parse(body).error.code]).toEqual([503, 'no-leader']);
  expect(looks).toBe(WAIT_MS / AGAIN_MS);
});

it.each([
  ['all the time', Number.POSITIVE_INFINITY, CONVERSION_WAIT_MS],
  ['at first', 2 * WAIT_MS, 2 * WAIT_MS],
])('a write waits longer while the next leader converts rows: %s', async (_when, until, waited) => {
  const clock = stopClock();
  const began = clock.at;
  const nobody: ForwardingOptions['fleet'] = {
    leader: () => ({ kind: 'nobody' }),
    async changed(ms) {
      clock.at += ms;
    },
  };
  const { statusCode } = await startProcess(nobody, () => clock.at - began < until)();
  expect({ statusCode, waited: clock.at - began }).toEqual({ statusCode: 503, waited });
});

it('a write that waits is carried out when this process becomes the leader', async () => {
  const clock = stopClock();
  let led: LeaderLocation = { kind: 'nobody' };
  const write = startProcess({
    leader: () => led,
    async changed(ms) {
      clock.at += ms;
      led = { kind: 'here', leader: { owner: 'a', address: 'http://127.0.0.1:9', claim: 'c' } };
    },
  });
  const { statusCode, body } = await write();
  expect([statusCode, JSON.parse(body)]).toEqual([200, { data: 'here' }]);
});

it(`a leader is idle ${MOMENT_MS} ms after the end of its last write`, async () => {
  const clock = stopClock();
  const { underWay, idle } = forwardingOf({ leader: () => ({ kind: 'nobody' }), changed: async () => {} });
  let isIdle = false;
  underWay.enter();
  const waiting = idle().then(() => {
    isIdle = true;
  });
  clock.at += 2 * MOMENT_MS;
  await delay(2 * MOMENT_MS);
  expect(isIdle).toBe(false);
  underWay.leave();
  clock.at += MOMENT_MS - 1;
  await delay(2 * MOMENT_MS);
  expect(isIdle).toBe(false);
  clock.at += 1;
  await waiting;
});
