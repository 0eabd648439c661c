import { once } from 'node:events';
import { request } from 'node:http';
import fastify from 'fastify';
import { expect, it, onTestFinished } from 'vitest';
import { errorStatus } from '../../services/http/answers/error-statuses.ts';
import type { StreamContext } from '../../services/http/routes/open-stream.ts';
import { registerOperations } from '../../services/http/routes/operation-routes.ts';
import type { RunOperation } from '../../services/operator/http-operations.ts';
import type { RequestError } from '../../shared/request-error.ts';

/** Serves the operations, carried out by `run`. Its answers are JSON, so it opens no stream. */
async function serving(run: RunOperation) {
  const app = fastify();
  app.setErrorHandler((error: RequestError, _request, reply) => {
    void reply.code(errorStatus(error.code).status).send({ code: error.code });
  });
  registerOperations(app, { operations: run }, {} as StreamContext);
  onTestFinished(() => app.close());
  return `${await app.listen({ port: 0 })}/_varve/operations`;
}

it('runs at most eight operations at the same time', async () => {
  const over = Promise.withResolvers<void>();
  let begun = 0;
  const url = await serving(async function* () {
    begun++;
    await over.promise;
    yield { kind: 'over' };
  });
  const running = Array.from({ length: 8 }, () => fetch(`${url}/status`, { method: 'POST' }));
  await expect.poll(() => begun, { timeout: 30_000 }).toBe(8);
  const ninth = await fetch(`${url}/status`, { method: 'POST' });
  expect([ninth.status, await ninth.json()]).toEqual([503, { code: 'busy' }]);
  over.resolve();
  for (const answer of await Promise.all(running)) expect(answer.status).toBe(200);
  expect((await fetch(`${url}/status`, { method: 'POST' })).status, 'again when they have ended').toBe(200);
});

it('has at most 10,000 lines in an answer that is not a stream', async () => {
  let lines = 10_000;
  const url = await serving(async function* () {
    for (let i = 0; i < lines; i++) yield i;
  });
  const fits = await fetch(`${url}/verify-index`, { method: 'POST' });
  expect(((await fits.json()) as { data: unknown[] }).data).toHaveLength(10_000);
  lines++;
  const refused = await fetch(`${url}/verify-index`, { method: 'POST' });
  expect([refused.status, await refused.json()]).toEqual([400, { code: 'query-too-large' }]);
});

it('ends an operation whose caller disconnects', async () => {
  const aborted = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const url = await serving(async function* (_name, _form, signal) {
    begun.resolve();
    await once(signal, 'abort');
    aborted.resolve();
    yield {};
  });
  const asking = request(`${url}/rebuild`, { method: 'POST' });
  asking.on('error', () => {});
  asking.end();
  await begun.promise;
  asking.destroy();
  await aborted.promise;
});
