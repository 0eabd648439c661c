import { execFileSync } from 'node:child_process';
import { KurrentDbContainer } from '@testcontainers/kurrentdb';

/** The server that the adapter is tested on where there is Docker: that of docker-compose.yml. */
const KURRENTDB_IMAGE = 'docker.kurrent.io/kurrent-latest/kurrentdb:25.1.0';

/**
 * The connection string in `VARVE_TEST_KURRENTDB`: a whole one, which may name several nodes, or the nodes alone, separated by
 * commas. Undefined when it is not set.
 */
export const realServerUrl = (given = process.env['VARVE_TEST_KURRENTDB']): string | undefined => {
  if (given === undefined || given === '') return undefined;
  const addresses = given.split(/,(?=[a-z+]+:\/\/)/);
  if (addresses.length === 1) return /^[a-z+]+:\/\//.test(given) ? given : `kurrentdb://${given}`;
  // Several connection strings: the hosts of all, with the settings of the first.
  const [first = '', ...others] = addresses;
  const [, head = '', settings = ''] = /^([^?]*?)\/?(\?.*)?$/.exec(first) ?? [];
  const hosts = others.map((address) =>
    address.replace(/^[a-z+]+:\/\/([^@]*@)?/, '').replace(/\/?(\?.*)?$/, ''),
  );
  return `${[head, ...hosts].join(',')}${settings}`;
};

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
