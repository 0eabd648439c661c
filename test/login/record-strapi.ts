import { readFileSync, writeFileSync } from 'node:fs';
import { LEGACY_STEPS, REFRESH_STEPS } from './auth-scenario.ts';
import { type Mail, runScenario } from './run-scenario.ts';

/**
 * Records the answers of a real Strapi, to compare them with Varve's.
 *
 *   node test/login/record-strapi.ts legacy|refresh BASE MAIL_FILE
 *
 * Strapi needs an empty database, `ratelimit: { enabled: false }`, `url` in config/server set to BASE, and every right on users for the
 * role Public. Its email provider must append each message as a line of JSON to MAIL_FILE. Its `jwtManagement` must be `refresh` for
 * that scenario.
 */
const [, , mode = 'legacy', base = '', mailFile = ''] = process.argv;

const admin = { email: 'admin@example.com', password: 'Recording-1', firstname: 'Recorder' };

async function adminToken(): Promise<string> {
  const ask = async (path: string, body: object) =>
    fetch(`${base}/admin/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  await ask('register-admin', admin);
  const answer = await ask('login', { email: admin.email, password: admin.password });
  const { data } = (await answer.json()) as { readonly data: { readonly token: string } };
  return data.token;
}

const headers = { 'content-type': 'application/json', authorization: `Bearer ${await adminToken()}` };
const settings = `${base}/users-permissions/advanced`;

async function setSwitches(switches: Readonly<Record<string, unknown>>): Promise<void> {
  const answer = (await (await fetch(settings, { headers })).json()) as { readonly settings: object };
  const body = JSON.stringify({ ...answer.settings, ...switches });
  const { status } = await fetch(settings, { method: 'PUT', headers, body });
  if (status !== 200) throw new Error(`the switches were refused: ${status}`);
}

async function newestMail(): Promise<Mail> {
  const lines = readFileSync(mailFile, 'utf8').trimEnd().split('\n');
  return JSON.parse(String(lines.at(-1))) as Mail;
}

await setSwitches({ email_reset_password: 'https://example.com/reset' });
const steps = mode === 'refresh' ? REFRESH_STEPS : LEGACY_STEPS;
const recorded = await runScenario(steps, { base, setSwitches, newestMail });
const file = new URL(`strapi-5.54-${mode}.json`, import.meta.url);
writeFileSync(file, `${JSON.stringify(recorded, null, 2)}\n`);
