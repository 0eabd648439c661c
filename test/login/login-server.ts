import { type Ask, createAsk, createTokenOver } from '../support/access-client.ts';
import { type RunningServer, type ServerOptions, startServer } from '../support/server.ts';
import type { Mail, ScenarioServer } from './run-scenario.ts';

export type LoginServer = RunningServer & {
  /** Sends requests with full access. */
  readonly admin: Ask;
  /** Sends requests without a token. */
  readonly ask: Ask;
  readonly setSwitches: ScenarioServer['setSwitches'];
  readonly setRole: (type: string, role: object) => Promise<void>;
  /** Returns the mails that the server has printed so far. */
  readonly mails: () => readonly Mail[];
  /** Resolves to the next mail after the first `seen` ones. */
  readonly mailAfter: (seen: number) => Promise<Mail>;
};

export const CHEAP_PASSWORDS = { NODE_OPTIONS: `--import=${new URL('cheap-passwords.ts', import.meta.url)}` };

/** Starts a server whose users can sign in. Registration is on, and passwords are hashed with little work. */
export async function startLoginServer(options: ServerOptions = {}): Promise<LoginServer> {
  const server = await startServer({
    ...options,
    env: { ...CHEAP_PASSWORDS, ...options.env },
    arguments: ['--login', '--mail', 'console', '--login-rate-limit', '0', ...(options.arguments ?? [])],
  });
  const ask = createAsk(server.url);
  const admin = createAsk(server.url, await createTokenOver(ask, { name: 'admin', type: 'full-access' }));
  const put = async (path: string, data: object) => {
    const { status, body } = await admin(path, { method: 'PUT', body: { data } });
    if (status !== 200) throw new Error(JSON.stringify(body));
  };
  const mails = () => mailsIn(server.output());
  const result: LoginServer = {
    ...server,
    ...{ ask, admin, mails },
    setSwitches: (switches) => put('/_varve/login', switches),
    setRole: (type, role) => put(`/_varve/roles/${type}`, role),
    async mailAfter(seen) {
      for (;;) {
        const mail = mails()[seen];
        if (mail !== undefined) return mail;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
  };
  await result.setSwitches({ allow_register: true, email_reset_password: 'https://example.com/reset' });
  return result;
}

const MAIL = /^Mail to (.*)\nSubject: (.*)\n\n([\s\S]*?)\n\nEnd of mail$/gm;

function mailsIn(output: string): readonly Mail[] {
  return [...output.matchAll(MAIL)].map(([, to = '', subject = '', text = '']) => ({ to, subject, text }));
}
