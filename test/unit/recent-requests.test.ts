import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { createRecentRequests } from '../../services/http/sockets/recent-requests.ts';

const KEPT = 500;
const LONGEST_URL = 4_096;

/** Records each request, and returns those that are listed afterwards. */
function listAfter(requests: readonly Partial<IncomingMessage>[]) {
  const recent = createRecentRequests();
  let handled = 0;
  const handle = recent.watch(() => void handled++);
  for (const given of requests) {
    const request = Object.assign(new IncomingMessage(new Socket()), { method: 'GET', ...given });
    handle(request, new ServerResponse(request));
  }
  expect(handled).toBe(requests.length);
  return recent.list();
}

it('lists recent requests, with the Authorization of those that had one', () => {
  const headers = { authorization: 'Bearer a' };
  expect(listAfter([{ url: '/a' }, { url: '/b', headers }, { url: '/a' }])).toEqual([
    { url: '/a' },
    { url: '/b', authorization: 'Bearer a' },
    { url: '/a' },
  ]);
});

it('keeps the last 500, and uses no Authorization for a later request without one', () => {
  const headers = { authorization: 'Bearer a' };
  const first = Array.from({ length: KEPT }, (_, i) => ({ url: `/${i}`, headers }));
  const listed = listAfter([...first, { url: '/last' }, { url: '/very-last' }]);
  expect(listed).toHaveLength(KEPT);
  expect(listed).toContainEqual({ url: '/last' });
  expect(listed).toContainEqual({ url: '/very-last' });
  expect(listed.map(({ url }) => url)).not.toContain('/1');
  expect(listed.map(({ url }) => url)).toContain('/2');
});

it('keeps neither writes nor very long URLs', () => {
  const long = (length: number) => ({ url: '/'.padEnd(length, 'x') });
  expect(listAfter([{ url: '/a', method: 'POST' }, long(LONGEST_URL + 1)])).toEqual([]);
  expect(listAfter([long(LONGEST_URL)])).toHaveLength(1);
});
