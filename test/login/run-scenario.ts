import type { Step } from './auth-scenario.ts';

export type Mail = { readonly to: string; readonly subject: string; readonly text: string };

/** An answer without the values that differ from run to run. */
export type Recorded = {
  readonly name: string;
  readonly status: number;
  readonly location?: string;
  readonly body: unknown;
  readonly mail?: Mail;
};

export type ScenarioServer = {
  readonly base: string;
  readonly setSwitches: (switches: Readonly<Record<string, unknown>>) => Promise<void>;
  /** Resolves to the newest mail when it has arrived. */
  readonly newestMail: () => Promise<Mail>;
};

/** Sends the steps one after the other. */
export async function runScenario(steps: readonly Step[], server: ScenarioServer): Promise<Recorded[]> {
  const kept = new Map<string, string>();
  const recorded: Recorded[] = [];
  for (const step of steps) {
    if (step.switches !== undefined) await server.setSwitches(step.switches);
    const response = await send(server.base, step, kept);
    const text = await response.text();
    const body = response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text;
    keep(kept, step.keep, body);
    const location = response.headers.get('location');
    recorded.push({
      ...{ name: step.name, status: response.status },
      ...(location === null ? {} : { location }),
      body: stable(body),
      ...(step.mail === true ? { mail: takeMail(kept, await server.newestMail(), server.base) } : {}),
    });
  }
  return recorded;
}

function send(base: string, step: Step, kept: ReadonlyMap<string, string>): Promise<Response> {
  const fill = (text: string) =>
    text.replace(/\{([a-z]+(?:\.[a-zA-Z]+)?)\}/g, (_, name) => kept.get(name) ?? '?');
  return fetch(base + fill(step.path), {
    method: step.method,
    redirect: 'manual',
    headers: {
      ...(step.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(step.as === undefined ? {} : { authorization: credentials(fill(step.as), kept) }),
    },
    ...(step.body === undefined ? {} : { body: fill(JSON.stringify(step.body)) }),
  });
}

/** Returns a mail without its code. Keeps the code for later steps. */
function takeMail(kept: Map<string, string>, { to, subject, text }: Mail, base: string): Mail {
  const code = /(?:code|confirmation)=([^<\s]+)/.exec(text)?.[1] ?? '';
  kept.set('code', code);
  return { to, subject, text: text.replaceAll(code, '<code>').replaceAll(base, '<base>') };
}

function credentials(who: string, kept: ReadonlyMap<string, string>): string {
  return who.startsWith('Bearer ') ? who : `Bearer ${kept.get(`${who}.jwt`)}`;
}

function keep(kept: Map<string, string>, name: string | undefined, body: unknown): void {
  if (name === undefined) return;
  const { jwt, refreshToken, user } = body as {
    readonly jwt?: string;
    readonly refreshToken?: string;
    readonly user?: { readonly id: number };
  };
  if (jwt !== undefined) kept.set(`${name}.jwt`, jwt);
  if (refreshToken !== undefined) kept.set(`${name}.refreshToken`, refreshToken);
  if (user !== undefined) kept.set(`${name}.id`, String(user.id));
}

const VARYING = new Set(['id', 'documentId', 'createdAt', 'updatedAt', 'publishedAt', 'jwt', 'refreshToken']);

/** Replaces ids, times and tokens by their names. */
function stable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stable);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [
    name,
    VARYING.has(name) && member !== null ? `<${name}>` : stable(member),
  ]);
  return Object.fromEntries(members);
}
