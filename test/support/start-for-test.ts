import { onTestFinished } from 'vitest';
import { type RunningServer, type ServerOptions, startServer } from './server.ts';

/** Starts a server that is disposed at the end of the test. */
export async function startForTest(options: ServerOptions = {}): Promise<RunningServer> {
  const server = await startServer(options);
  onTestFinished(() => server.dispose());
  return server;
}
