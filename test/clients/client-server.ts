import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from 'vitest';
import { type RunningServer, startServer } from '../support/server.ts';

const CLIENT_SCHEMA = fileURLToPath(new URL('schema', import.meta.url));

/** Starts a server with articles (localized, draft & publish), categories and a homepage, for the tests of one file. */
export function clientServer(env: Readonly<Record<string, string>> = {}): {
  readonly url: string;
  readonly api: string;
} {
  let server: RunningServer | undefined;
  beforeAll(async () => {
    server = await startServer({ contentTypes: CLIENT_SCHEMA, env });
  });
  afterAll(() => server?.dispose());
  return {
    get url() {
      return server?.url ?? '';
    },
    get api() {
      return `${server?.url}/api`;
    },
  };
}
