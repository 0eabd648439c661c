import type { Random } from '../support/naive-random.ts';
import { mutateJson, mutateText } from './mutate.ts';
import { type Caller, type FuzzMaterial, type Request, requestOf } from './requests.ts';

/** Mutated forms of the login: registrations, sign-ins, codes, sessions. */

const ADDRESSES = [
  ...['u@example.org', 'U@EXAMPLE.ORG', 'u+x@example.org', 'ü@müller.example', 'u@[127.0.0.1]', 'u', '@', ''],
  ...[
    '"x" <u@evil.example>"@example.org',
    'u@example.org, v@example.org',
    'u@example.org\r\nBcc: v@example.org',
  ],
  ...[
    '(comment)u@example.org',
    `${'u'.repeat(70)}@example.org`,
    `u@${'a.'.repeat(200)}example`,
    'u\u0000@example.org',
  ],
];
const PASSWORDS = [
  'a long password',
  'x',
  '',
  'p'.repeat(72),
  'p'.repeat(73),
  'ü'.repeat(40),
  'a\u0000b',
  '\ud800',
];
const CODES = ['x', `1-${'0'.repeat(64)}`, `zzzzzzzzzzz-${'f'.repeat(64)}`, '', '1-', `${'9'.repeat(300)}-`];
const JWTS = [
  'x',
  'a.b.c',
  'eyJhbGciOiJub25lIn0.e30.',
  'eyJhbGciOiJIUzI1NiJ9.e30.x',
  '..',
  `${'a'.repeat(3_000)}.b.c`,
];

type Form = (random: Random) => Readonly<Record<string, unknown>>;

const withPasswords = (random: Random) => {
  const password = random.pick(PASSWORDS);
  return { password, passwordConfirmation: random.chance(0.8) ? password : random.pick(PASSWORDS) };
};
const FORMS: Readonly<Record<string, Form>> = {
  local: (random) => ({
    identifier: random.pick([...ADDRESSES, 'person']),
    password: random.pick(PASSWORDS),
  }),
  'local/register': (random) => ({
    username: random.pick(['person', 'p', `person ${random.between(0, 1_000_000)}`, '', 'u@example.org']),
    email: random.chance(0.4) ? `p${random.between(0, 1_000_000)}@example.org` : random.pick(ADDRESSES),
    password: random.pick(PASSWORDS),
    ...(random.chance(0.1) ? { role: 1, confirmed: true, blocked: false, provider: 'x' } : {}),
  }),
  'forgot-password': (random) => ({ email: random.pick(ADDRESSES) }),
  'send-email-confirmation': (random) => ({ email: random.pick(ADDRESSES) }),
  'reset-password': (random) => ({ code: random.pick(CODES), ...withPasswords(random) }),
  'change-password': (random) => ({ currentPassword: random.pick(PASSWORDS), ...withPasswords(random) }),
  refresh: (random) => ({ refreshToken: random.pick(JWTS) }),
  logout: (random) => ({ deviceId: random.pick(['a', '', 7, null]), scope: random.pick(['all', 'x', null]) }),
};

export function makeLoginRequest(random: Random, material: FuzzMaterial): Request {
  const caller = random.pick<Caller>(['anonymous', 'anonymous', 'site', 'full']);
  if (random.chance(0.1)) {
    const target = `/api/auth/email-confirmation?confirmation=${encodeURIComponent(random.pick(CODES))}`;
    return requestOf(material, { caller, method: 'GET', target, body: '', headers: [] });
  }
  const path = random.pick(Object.keys(FORMS));
  const form = FORMS[path]?.(random) ?? {};
  const value = random.chance(0.4) ? mutateJson(form, random) : form;
  const isEncoded = random.chance(0.1);
  const text = isEncoded ? new URLSearchParams(textsOf(form)).toString() : JSON.stringify(value);
  return requestOf(material, {
    ...{ caller, method: 'POST', target: `/api/auth/${path}` },
    body: random.chance(0.15) ? mutateText(text, random) : text,
    headers: [
      ...(isEncoded ? ['Content-Type: application/x-www-form-urlencoded'] : []),
      ...(random.chance(0.2) ? [`Authorization: Bearer ${random.pick(JWTS)}`] : []),
    ],
  });
}

function textsOf(form: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(form).map(([name, value]) => [name, String(value).toWellFormed()]),
  );
}
