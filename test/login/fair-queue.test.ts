import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { startLoginServer } from './login-server.ts';

const PASSWORD = 'a long password';

it('one caller with many registrations does not stop the sign-in of another', async () => {
  // The usual cost of bcrypt: the registrations are still waiting when the other caller signs in.
  const server = await startLoginServer({ env: { NODE_OPTIONS: '' } });
  onTestFinished(server.dispose);
  const post = (localAddress: string, path: string, body: object) =>
    new Promise<number>((resolve, reject) => {
      const headers = { 'content-type': 'application/json' };
      const sent = request(
        `${server.url}/api/auth/${path}`,
        { method: 'POST', localAddress, headers },
        (answer) => text(answer).then(() => resolve(Number(answer.statusCode)), reject),
      );
      sent.on('error', reject).end(JSON.stringify(body));
    });
  const register = (from: string, username: string) =>
    post(from, 'local/register', { username, email: `${username}@example.com`, password: PASSWORD });
  expect(await register('127.0.0.1', 'quiet')).toBe(200);
  const statuses: number[] = [];
  for (let at = 0; at < 300; at++)
    register('127.0.0.1', `busy${at}`).then(
      (status) => statuses.push(status),
      // The server is stopped before most of them have an answer.
      () => undefined,
    );
  // The first refusal shows that the queue is full.
  while (!statuses.includes(503)) await new Promise((resolve) => setTimeout(resolve, 5));
  const before = statuses.length;
  expect(await post('127.0.0.2', 'local', { identifier: 'quiet', password: PASSWORD })).toBe(200);
  expect(statuses.slice(before).filter((status) => status === 200).length).toBeLessThan(20);
}, 300_000);
