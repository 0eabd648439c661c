import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { generateKeyPair, SignJWT } from 'jose';
import { expect, it, onTestFinished } from 'vitest';
import { createIdentities } from '../../../services/login/identities.ts';

const PAUSE_MS = 2_000;

it('reads the keys of a provider that fails once, and again only after a pause', async () => {
  let requests = 0;
  const provider = createServer((_request, response) => {
    requests++;
    response.writeHead(500).end();
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void provider.close());
  const { port } = provider.address() as AddressInfo;
  const nobody = () => {
    throw new Error('nobody has signed in');
  };
  const settings = { audience: 'a', issuer: undefined, roleClaim: 'roles', roles: new Map() };
  const identities = createIdentities({ keys: `http://127.0.0.1:${port}/`, ...settings }, nobody, PAUSE_MS);
  const { privateKey } = await generateKeyPair('RS256');
  const jwt = await new SignJWT({ sub: 'a' })
    .setProtectedHeader({ alg: 'RS256' })
    .setAudience('a')
    .setExpirationTime('5m')
    .sign(privateKey);
  const ask = () => expect(identities(jwt)).rejects.toMatchObject({ code: 'keys-unavailable' });
  await ask();
  for (let at = 0; at < 20; at++) await ask();
  expect(requests).toBe(1);
  await delay(PAUSE_MS);
  await ask();
  expect(requests).toBe(2);
});
