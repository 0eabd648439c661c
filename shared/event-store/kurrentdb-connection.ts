import { type Credentials, KurrentDBClient } from '@kurrent/kurrentdb-client';
import type { Patience } from './kurrentdb-retry.ts';

/** What the adapter's parts share. */
export type Connection = {
  readonly client: KurrentDBClient;
  /** What the names of the space's streams begin with. */
  readonly prefix: string;
  readonly credentials: Credentials | undefined;
  readonly appendCredentials: Credentials | undefined;
  readonly patience: Patience;
};

/**
 * The client for `kurrentdb://[user:password@]host:port[,…][?tls=false&…]` (`kurrentdb+discover://`, and `esdb://` for
 * EventStoreDB, alike). TLS is on unless the address says `tls=false`; `tlsCAFile`, `userCertFile` and `userKeyFile` name PEM
 * files. It connects with the first call. Throws an error without the password when the address is not understood.
 */
export const connect = (url: string): KurrentDBClient => {
  try {
    return KurrentDBClient.connectionString(completed(url));
  } catch (error) {
    const reason = withoutCredentials((error as Error).message, url);
    throw new Error(`cannot use the event store ${withoutCredentials(url, url)}: ${reason}`);
  }
};

/** Both halves of the client wait this long before they look for a node again, the Rust one before its first look too. */
const DISCOVERY_INTERVAL = 'discoveryInterval=100';

const completed = (url: string): string => {
  const address = url.replace(/^esdb(?=\+discover:|:)/, 'kurrentdb');
  if (/[?&]discoveryInterval=/i.test(address)) return address;
  return `${address}${address.includes('?') ? '&' : '?'}${DISCOVERY_INTERVAL}`;
};

/** Those in the address. Given with every read: the Rust half of the client does not decode percent signs in the address. */
export const credentialsOf = (url: string): Credentials | undefined => {
  const [, username, password] = CREDENTIALS.exec(url) ?? [];
  if (username === undefined || password === undefined) return undefined;
  return { username: decodeURIComponent(username), password: decodeURIComponent(password) };
};

/**
 * Credentials given with a call make the client use one `Append` call for each append and not the shared `BatchAppend`
 * stream. That has a deadline and says who leads; when the shared stream breaks with several writes queued on it, the client
 * (1.3.1) leaves rejected promises that nobody can handle, which ends a Node process. Without TLS credentials are never sent,
 * so any will do; with TLS and none in the address (client certificates) the shared stream is used, one append at a time.
 */
export const appendCredentialsOf = (url: string): Credentials | undefined =>
  credentialsOf(url) ?? (/[?&]tls=false(&|$)/i.test(url) ? { username: '', password: '' } : undefined);

const CREDENTIALS = /^[a-z+]+:\/\/([^:]+):([^@]+)@/;

const withoutCredentials = (text: string, url: string): string => {
  const [, username, password] = CREDENTIALS.exec(url) ?? [];
  return username === undefined ? text : text.replaceAll(`${username}:${password}`, '***');
};
