import { execFileSync } from 'node:child_process';
import { KurrentDbContainer } from '@testcontainers/kurrentdb';

/** The server that the adapter is tested on where there is Docker: that of docker-compose.yml. */
const KURRENTDB_IMAGE = 'docker.kurrent.io/kurrent-latest/kurrentdb:25.1.0';

export type RealServer = { readonly url: string; stop(): Promise<void> };

/**
 * How to reach a real server: the one that `VARVE_TEST_KURRENTDB` names, else a container where Docker runs. Undefined when
 * there is neither.
 */
export const findRealServer = (): (() => Promise<RealServer>) | undefined => {
  const url = process.env['VARVE_TEST_KURRENTDB'];
  if (url !== undefined && url !== '') return async () => ({ url, stop: async () => undefined });
  if (!isDockerRunning()) return undefined;
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

const isDockerRunning = (): boolean => {
  try {
    execFileSync('docker', ['info'], { stdio: 'ignore', timeout: 10_000 });
    return true;
  } catch {
    return false;
  }
};
