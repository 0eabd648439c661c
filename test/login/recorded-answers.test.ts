import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UNKNOWN_TOKEN } from '../../shared/access/unknown-token.ts';
import { LEGACY_STEPS, REFRESH_STEPS, type Step } from './auth-scenario.ts';
import { type LoginServer, startLoginServer } from './login-server.ts';
import { type Recorded, runScenario } from './run-scenario.ts';

/** Answers that differ from Strapi's, and why. */
const DIFFERENT: Readonly<Record<string, { readonly why: string; readonly answer: object }>> = {
  'me with a JWT of others': { why: 'the message says what to do', answer: unknownToken() },
  'me with an unknown token': { why: 'the message says what to do', answer: unknownToken() },
  'me with a refresh token': { why: 'the message says what to do', answer: unknownToken() },
  'send the confirmation of a confirmed user': {
    why: 'the answer says nothing about a user',
    answer: { status: 200, body: { email: 'carol@example.com', sent: true } },
  },
  'me with a password field': {
    why: 'the details say more',
    answer: {
      status: 400,
      body: expect.objectContaining({
        error: expect.objectContaining({ name: 'ValidationError', message: 'Invalid key password' }),
      }),
    },
  },
  'register where it is off': {
    why: 'the details name the switch',
    answer: {
      status: 400,
      body: {
        data: null,
        error: expect.objectContaining({
          message: 'Register action is currently disabled',
          details: { accepted: expect.stringContaining('allow_register') },
        }),
      },
    },
  },
  connect: { why: 'providers are asked elsewhere', answer: noProvider() },
  'callback of a provider': { why: 'providers are asked elsewhere', answer: noProvider() },
};

function unknownToken(): object {
  return refusal(401, 'UnauthorizedError', UNKNOWN_TOKEN);
}

function noProvider(): object {
  return {
    status: 501,
    body: {
      data: null,
      error: expect.objectContaining({
        ...{ status: 501, name: 'NotImplementedError', code: 'provider-not-served' },
        message: expect.stringContaining('--jwks'),
      }),
    },
  };
}

function refusal(status: number, name: string, message: unknown): object {
  return { status, body: { data: null, error: { status, name, message, details: {} } } };
}

describe.each([
  { mode: 'legacy', steps: LEGACY_STEPS, settings: [] },
  { mode: 'refresh', steps: REFRESH_STEPS, settings: ['--jwt-management', 'refresh'] },
])('every step of the login, $mode', ({ mode, steps, settings }) => {
  let server: LoginServer;
  const answers = new Map<string, Recorded>();
  const file = new URL(`strapi-5.54-${mode}.json`, import.meta.url);
  const recorded = JSON.parse(readFileSync(file, 'utf8')) as Recorded[];

  beforeAll(async () => {
    server = await startLoginServer({ arguments: settings });
    // The recorded Strapi has the same rights.
    await server.setRole('public', { allow: 'user.*' });
    let seen = 0;
    const { url: base, setSwitches } = server;
    const newestMail = () => server.mailAfter(seen++);
    for (const answer of await runScenario(steps as readonly Step[], { base, setSwitches, newestMail }))
      answers.set(answer.name, answer);
  });
  afterAll(() => server.dispose());

  test.each(recorded.map((strapi) => [strapi.name, strapi] as const))('%s', (name, strapi) => {
    const different = DIFFERENT[name];
    const { mail, ...answer } = answers.get(name) ?? {};
    if (different !== undefined) return expect(answer).toEqual({ name, ...different.answer });
    const { mail: sent, ...wanted } = strapi;
    expect(answer).toEqual(wanted);
    expect(mail?.to).toBe(sent?.to);
    // Varve's mails have their own text until an import replaces it.
    expect(linkIn(mail?.text)).toBe(linkIn(sent?.text));
  });
});

function linkIn(text: string | undefined): string | undefined {
  return /(?:https?:|<base>)[^<]*<code>/.exec(text ?? '')?.[0];
}
