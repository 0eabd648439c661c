import { execFileSync } from 'node:child_process';
import { KurrentDbContainer } from '@testcontainers/kurrentdb';

/** The server that the adapter is tested on where there is Docker: that of docker-compose.yml. */
const KURRENTDB_IMAGE = 'docker.kurrent.io/kurrent-latest/kurrentdb:25.1.0';

export type RealServer = { readonly url: string; stop(): Promise<void> };

/**
 * Returns how to reach a real server: VARVE_TEST_KURRENTDB=URL names one that runs, `docker` starts a container. Unasked, a
 * container is started where Docker has the image already: tests fetch no database. Undefined when there is none of these.
 */
export const findRealServer = (): (() => Promise<RealServer>) | undefined => {
  const url = process.env['VARVE_TEST_KURRENTDB'];
  if (url !== undefined && url !== '' && url !== 'docker')
    return async () => ({ url, stop: async () => undefined });
  if (!dockerTakes(url === 'docker' ? ['info'] : ['image', 'inspect', KURRENTDB_IMAGE])) return undefined;
  return async () => {
    const container = await new KurrentDbContainer(KURRENTDB_IMAGE).start();
    return {
      url: container.getConnectionString(),
      async stop() {
        await container.stop();
      },
    };
  };
};

const dockerTakes = (args: readonly string[]): boolean => {
  try {
    execFileSync('docker', [...args], { stdio: 'ignore', timeout: 10_000 });
    return true;
  } catch {
    return false;
  }
};
