import type { FastifyRequest } from 'fastify';
import { expect, it } from 'vitest';
import { awaitTokens, type Freshness } from '../../services/http/requests/await-position.ts';

/** Sends a request while the log ends at 7. Returns the position and the time for which tokens are awaited. */
async function awaited(headers: { readonly [name: string]: string }, mayBecomeValid = false) {
  const calls: (readonly [bigint, number | undefined])[] = [];
  const freshness: Pick<Freshness, 'head'> = { head: async () => 7n };
  const access = {
    mayBecomeValid: () => mayBecomeValid,
    async applied(position: bigint, timeoutMs?: number) {
      calls.push([position, timeoutMs]);
      return true;
    },
  };
  const request = { headers, method: 'GET' } as unknown as FastifyRequest;
  await awaitTokens(freshness, access, request);
  return calls;
}

it('waits at most a second for the tokens of a position that the log has reached', async () => {
  expect(await awaited({ 'varve-min-position': '5' })).toEqual([[5n, 1_000]]);
  expect(await awaited({ 'varve-min-position': '9' })).toEqual([[7n, 1_000]]);
  expect(await awaited({ 'varve-min-position': '99999999999999999999' })).toEqual([[7n, 1_000]]);
});

it('waits for all current tokens if the token of the request may become valid', async () => {
  expect(await awaited({}, true)).toEqual([[7n, 1_000]]);
});

it('does not wait for anything but a position', async () => {
  for (const text of ['-1', '1.5', 'abc', '1'.repeat(21)])
    expect(await awaited({ 'varve-min-position': text }), text).toEqual([]);
  expect(await awaited({})).toEqual([]);
});
