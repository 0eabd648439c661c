import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { ChannelCredentials } from '@grpc/grpc-js';
import { parseConnectionString } from '@kurrent/kurrentdb-client/dist/Client/parseConnectionString.js';

export type EndPoint = { readonly address: string; readonly port: number };

/** The address of KurrentDB, parsed. */
export type Address = {
  /** Text for messages, without the password. */
  readonly shown: string;
  readonly user: string | undefined;
  readonly hosts: readonly EndPoint[];
  /** True if there are several hosts, or a name that resolves to several. The client then asks the nodes for the leader. */
  readonly isCluster: boolean;
  readonly tls: boolean;
  readonly channelCredentials: ChannelCredentials;
  /** The TLS settings of `channelCredentials`, in the form of `tls.connect`. */
  readonly tlsOptions: {
    readonly ca?: Buffer;
    readonly cert?: Buffer;
    readonly key?: Buffer;
    readonly rejectUnauthorized: boolean;
  };
  /** Absent if there are none, or if a client certificate is used. Returns those that are in force now. */
  readonly credentials: (() => Credentials) | undefined;
  /** File that has the password, which is read again. */
  readonly passwordFile: string | undefined;
  readonly maxDiscoverAttempts: number;
  readonly discoveryIntervalMs: number;
  readonly gossipTimeoutSeconds: number;
  readonly keepAliveIntervalMs: number;
  readonly keepAliveTimeoutMs: number;
};

/**
 * Parses `kurrentdb://[user:password@]host:port[,…][?tls=false&…]` (`kurrentdb+discover://`, and `esdb://` for
 * EventStoreDB, work the same). `passwordFile` names a file with the password. TLS is on unless the address has `tls=false`; `tlsCAFile`, `userCertFile` and
 * `userKeyFile` name PEM files. Throws an error without the password if the address is not understood or cannot work.
 */
export function parseAddress(url: string): Address {
  try {
    return parse(url);
  } catch (error) {
    const reason = withoutPassword((error as Error).message, url);
    throw new Error(`cannot use the event store ${withoutPassword(url, url)}: ${reason}`);
  }
}

/**
 * Number of discovery attempts. It is practically unlimited: a cluster without a majority recovers, and a process that gave up would need a
 * restart.
 */
const DISCOVER_ATTEMPTS = 1_000_000;
const DISCOVERY_INTERVAL_MS = 100;
/** Seconds that each search waits for a node that is cut off. */
const GOSSIP_TIMEOUT_SECONDS = 2;
/** A ping is sent every 10 s and must be answered within 3 s. The vendor recommends no shorter interval. */
const KEEP_ALIVE_INTERVAL_MS = 10_000;
const KEEP_ALIVE_TIMEOUT_MS = 3_000;

function parse(url: string): Address {
  const given = url.replace(/^esdb(?=\+discover:|:)/, 'kurrentdb');
  const { text, passwordFile } = takePasswordFile(given);
  const parsed = parseConnectionString(text);
  assertEffects(parsed);
  const tls = parsed.tls !== false;
  if (tls) for (const { address } of parsed.hosts) assertTlsName(address);
  return {
    shown: withoutPassword(url, url),
    user: parsed.defaultCredentials?.username,
    hosts: parsed.hosts,
    isCluster: parsed.dnsDiscover || parsed.hosts.length > 1,
    tls,
    ...(tls ? tlsCredentials(parsed) : PLAIN),
    credentials: credentialsOf(parsed, passwordFile),
    passwordFile,
    maxDiscoverAttempts: parsed.maxDiscoverAttempts ?? DISCOVER_ATTEMPTS,
    discoveryIntervalMs: parsed.discoveryInterval ?? DISCOVERY_INTERVAL_MS,
    gossipTimeoutSeconds: parsed.gossipTimeout ?? GOSSIP_TIMEOUT_SECONDS,
    keepAliveIntervalMs: parsed.keepAliveInterval ?? KEEP_ALIVE_INTERVAL_MS,
    keepAliveTimeoutMs: parsed.keepAliveTimeout ?? KEEP_ALIVE_TIMEOUT_MS,
  };
}

/** Parameters of the client that change nothing here. */
const WITHOUT_EFFECT = ['nodePreference', 'defaultDeadline', 'throwOnAppendFailure'] as const;

function assertEffects(parsed: Parsed): void {
  // Varve sends each call to the leader.
  const isFulfilled = (value: unknown) => value === undefined || value === 'leader';
  const found = WITHOUT_EFFECT.find((parameter) => !isFulfilled(parsed[parameter]));
  if (found !== undefined) throw new Error(`${found}=${parsed[found]} has no effect: remove it`);
}

/** Throws if TLS has no name to check. Node does not accept an IP address as the name of a TLS server. */
export function assertTlsName(address: string): void {
  if (isIP(address) === 0) return;
  throw new TlsNeedsName(
    `TLS needs a host name, got the IP address ${address}: use a name that is in the server's certificate, ` +
      'or tls=false if the server has no TLS',
  );
}

/** Error for an address that can never work. */
class TlsNeedsName extends Error {}

export type Credentials = NonNullable<Parsed['defaultCredentials']>;

const ONLY_USER = /^([a-z+]+:\/\/)([^@:/]+)@/;

/** Takes the parameter `passwordFile` out of an address, which the client's parser does not know. */
function takePasswordFile(text: string): {
  readonly text: string;
  readonly passwordFile: string | undefined;
} {
  const [base = '', query = ''] = text.split('?', 2);
  const isFile = (parameter: string) => parameter.startsWith('passwordFile=');
  const parameters = query.split('&');
  const found = parameters.find(isFile);
  if (found === undefined) return { text, passwordFile: undefined };
  if (!ONLY_USER.test(base))
    throw new Error(
      'passwordFile needs a user without a password in the address: kurrentdb://USER@HOST:PORT',
    );
  const others = parameters.filter((parameter) => !isFile(parameter));
  const withUser = base.replace(ONLY_USER, '$1$2:in-file@');
  return {
    text: others.length === 0 ? withUser : `${withUser}?${others.join('&')}`,
    passwordFile: decodeURIComponent(found.slice(found.indexOf('=') + 1)),
  };
}

const PASSWORD_FOR_MS = 1_000;

/** Returns the credentials. A password in a file is read again each second. A file that cannot be read then changes nothing. */
function credentialsOf(
  { defaultCredentials: given }: Parsed,
  file: string | undefined,
): (() => Credentials) | undefined {
  if (given === undefined) return undefined;
  if (file === undefined) return () => given;
  const read = () => ({ ...given, password: readSecret(file) });
  let known = read();
  let readAt = performance.now();
  return () => {
    if (performance.now() - readAt < PASSWORD_FOR_MS) return known;
    readAt = performance.now();
    try {
      known = read();
    } catch {
      // The file is being replaced.
    }
    return known;
  };
}

function readSecret(file: string): string {
  try {
    return readFileSync(file, 'utf8').trimEnd();
  } catch (error) {
    throw new Error(`passwordFile cannot be read: ${(error as Error).message}`);
  }
}

type Parsed = ReturnType<typeof parseConnectionString>;

type TlsSettings = Pick<Address, 'channelCredentials' | 'tlsOptions'>;

const PLAIN: TlsSettings = {
  channelCredentials: ChannelCredentials.createInsecure(),
  tlsOptions: { rejectUnauthorized: false },
};

function tlsCredentials({ tlsCAFile, tlsVerifyCert, userCertFile, userKeyFile }: Parsed): TlsSettings {
  if ((userCertFile === undefined) !== (userKeyFile === undefined)) {
    throw new Error('userCertFile and userKeyFile belong together: pass both or neither');
  }
  const rejectUnauthorized = tlsVerifyCert !== false;
  const ca = readPem('tlsCAFile', tlsCAFile);
  const key = readPem('userKeyFile', userKeyFile);
  const cert = readPem('userCertFile', userCertFile);
  return {
    channelCredentials: ChannelCredentials.createSsl(
      ca,
      key,
      cert,
      rejectUnauthorized ? {} : { rejectUnauthorized },
    ),
    tlsOptions: { ...(ca && { ca }), ...(key && { key }), ...(cert && { cert }), rejectUnauthorized },
  };
}

function readPem(setting: string, path: string | undefined): Buffer | null {
  if (path === undefined) return null;
  try {
    return readFileSync(path);
  } catch (error) {
    throw new Error(`${setting} cannot be read: ${(error as Error).message}`);
  }
}

const CREDENTIALS = /^([a-z+]+:\/\/[^:]+):([^@]+)@/;

function withoutPassword(text: string, url: string): string {
  const [, before, password] = CREDENTIALS.exec(url) ?? [];
  if (before === undefined) return text;
  return text
    .replaceAll(`${before}:${password}@`, `${before.replace(/\/\/.*$/, '//')}***@`)
    .replaceAll(`${password}`, '***');
}
