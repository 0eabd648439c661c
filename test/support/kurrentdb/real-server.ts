import { execFileSync } from 'node:child_process';
import { KurrentDbContainer } from '@testcontainers/kurrentdb';

/** Image of the server on which the adapter is tested if there is Docker. docker-compose.yml uses the same. */
const KURRENTDB_IMAGE = 'docker.kurrent.io/kurrent-latest/kurrentdb:25.1.0';

/**
 * Returns the connection string of `VARVE_TEST_KURRENTDB`, or undefined if it is not set. The variable has a whole connection string,
 * or only the addresses of nodes, separated by commas.
 */
export const realServerUrl = (given = process.env['VARVE_TEST_KURRENTDB']): string | undefined => {
  if (given === undefined || given === '') return undefined;
  const addresses = given.split(/,(?=[a-z+]+:\/\/)/);
  if (addresses.length === 1) return /^[a-z+]+:\/\//.test(given) ? given : `kurrentdb://${given}`;
  // Several connection strings become one, with the hosts of all and the settings of the first.
  const [first = '', ...others] = addresses;
  const [, head = '', settings = ''] = /^([^?]*?)\/?(\?.*)?$/.exec(first) ?? [];
  const hosts = others.map((address) =>
    address.replace(/^[a-z+]+:\/\/([^@]*@)?/, '').replace(/\/?(\?.*)?$/, ''),
  );
  return `${[head, ...hosts].join(',')}${settings}`;
};

export type RealServer = { readonly url: string; stop(): Promise<void> };

/**
 * Returns a function that provides a real server, or undefined if there is none. VARVE_TEST_KURRENTDB=URL names a running one, and
 * `docker` starts a container. By default, a container is started only if Docker has the image: tests download no database.
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
