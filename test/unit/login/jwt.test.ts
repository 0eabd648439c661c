import { SignJWT } from 'jose';
import { expect, it } from 'vitest';
import { createJwts, type JwtManagement } from '../../../services/login/jwt.ts';

const SECRET = Buffer.from('a secret of this test alone, 32 bytes');
const LIFETIME = 3_600;
let now = Date.parse('2026-01-01T00:00:00.000Z');
const create = (management: JwtManagement, secret: Uint8Array = SECRET) =>
  createJwts({ secret, management, lifetime: LIFETIME, now: () => now });
const later = (seconds: number) => {
  now += seconds * 1_000;
};

it('is valid for its lifetime and not a second longer', async () => {
  const jwts = create('legacy-support');
  const jwt = await jwts.issue(7, 42);
  later(LIFETIME - 1);
  expect(await jwts.read(jwt)).toMatchObject({ userId: 7, passwordAt: 42, use: 'legacy', isOwn: true });
  later(1);
  expect(await jwts.read(jwt)).toBeUndefined();
});

it('is valid for ten minutes in refresh mode, its refresh token for 14 days', async () => {
  const jwts = create('refresh');
  const [jwt, token] = [await jwts.issue(7, undefined, 's'), await jwts.issueRefresh(7, 's', 3)];
  later(599);
  expect(await jwts.read(jwt)).toMatchObject({ userId: 7, use: 'access', session: 's' });
  later(1);
  expect(await jwts.read(jwt)).toBeUndefined();
  later(14 * 86_400 - 601);
  expect(await jwts.read(token)).toMatchObject({ use: 'refresh', session: 's', turn: 3 });
  later(1);
  expect(await jwts.read(token)).toBeUndefined();
});

it('is invalid with another secret, another algorithm or without a user', async () => {
  const jwts = create('legacy-support');
  const others = create('legacy-support', Buffer.from('another secret of 32 bytes or more'));
  expect(await others.read(await jwts.issue(7, undefined))).toBeUndefined();
  const sign = (claims: object, alg = 'HS256') =>
    new SignJWT({ ...claims }).setProtectedHeader({ alg }).sign(SECRET);
  expect(await jwts.read(await sign({ id: 7 }))).toMatchObject({ userId: 7, isOwn: false });
  expect(await jwts.read(await sign({ id: 7 }, 'HS512'))).toBeUndefined();
  for (const claims of [{}, { id: 'x' }, { id: 0 }, { userId: '7' }, { id: 7, type: 'other' }])
    expect(await jwts.read(await sign(claims))).toBeUndefined();
});
