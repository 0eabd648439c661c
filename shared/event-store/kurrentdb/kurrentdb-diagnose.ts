import { connect as connectTcp, isIP } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { ErrorType, isCommandError } from '@kurrent/kurrentdb-client';
import type { Address, EndPoint } from './kurrentdb-address.ts';
import { hasNoLeader } from './kurrentdb-failure.ts';
import { type FailureExplanation, isPassing, type RetryLimits } from './kurrentdb-retry.ts';

/** Returns a sentence that says what an operator must change if a server refuses or cannot be reached. */
type Explain = NonNullable<RetryLimits['explain']>;

const NO_LEADER = 'an election is in progress, or a majority of the nodes is down and has to be started';

/** Matches messages of grpc-js about a connection, as opposed to a server's answers. */
const NOT_REACHED = /connect|resol|ECONN|EPROTO|certificate|socket|dropped/i;
const UNAUTHENTICATED = 16;
const PROBE_TIMEOUT_MS = 1_500;
/** Milliseconds for which a probe's result is reused. If a store cannot be reached, many calls fail at once. */
const KNOWN_FOR_MS = 2_000;

/** Creates the explanation of failures. It probes the nodes at most every 2 s, and caches the result. */
export function createExplain(address: Address): Explain {
  let known:
    | { readonly at: number; readonly explanation: Promise<FailureExplanation | undefined> }
    | undefined;
  return async (operation, error) => {
    const kind = isCommandError(error as Error)
      ? (error as Error & { type: ErrorType; code?: number })
      : undefined;
    if (kind?.type === ErrorType.ACCESS_DENIED) {
      const mayRotate = kind.code === UNAUTHENTICATED && address.passwordFile !== undefined;
      return { sentence: explainDenied(operation, address, kind.code), lasts: !mayRotate };
    }
    if (hasNoLeader(error)) return noLeader(address);
    if (kind === undefined ? !isPassing(error) : kind.type !== ErrorType.UNAVAILABLE) return undefined;
    if (kind !== undefined && !NOT_REACHED.test(kind.message)) return undefined;
    if (known === undefined || performance.now() - known.at > KNOWN_FOR_MS) {
      // The caller handles the explanation.
      known = { at: performance.now(), explanation: diagnose(address) };
    }
    return known.explanation;
  };
}

function explainDenied(operation: string, address: Address, code: number | undefined): string {
  const { shown, user, passwordFile } = address;
  if (user === undefined && address.tls) {
    return `${shown} needs a user: put user and password in the address (kurrentdb://USER:PASSWORD@HOST:PORT), or a client certificate`;
  }
  if (code === UNAUTHENTICATED) {
    if (passwordFile !== undefined)
      return `${shown} knows no user ${user} with the password in ${passwordFile}: check both; the file is read again`;
    return `${shown} knows no user ${user} with this password: check both; reserved characters such as @ : / % are percent-encoded`;
  }
  if (operation.startsWith('append')) {
    return `user ${user} may not write at ${shown} (${operation}): make the user an admin, or give it $w in the server's default ACL of user streams ($settings)`;
  }
  if (operation.startsWith('read of the log') || operation === 'subscription') {
    return `user ${user} may not read $all at ${shown}: make the user an admin, or add it to the ACL of $all ($r in the stream metadata of $all)`;
  }
  return `user ${user} may not do this at ${shown} (${operation}): make the user an admin, or give it $r in the server's default ACL of user streams ($settings)`;
}

function noLeader({ shown }: Address): FailureExplanation {
  return { sentence: `no node of ${shown} is the leader: ${NO_LEADER}`, lasts: false };
}

/**
 * Probes the hosts of the address one after the other. Returns undefined if one answers. In a cluster the node that did not answer was the
 * leader then, as far as the others know: they name the last leader, also when it is gone.
 */
async function diagnose(address: Address): Promise<FailureExplanation | undefined> {
  const found: FailureExplanation[] = [];
  for (const host of address.hosts) {
    const explanation = await diagnoseHost(address, host);
    if (explanation === undefined) return address.isCluster ? noLeader(address) : undefined;
    found.push(explanation);
  }
  const sentence = [...new Set(found.map((each) => each.sentence))].join('; ');
  return { sentence, lasts: found.every(({ lasts }) => lasts) };
}

async function diagnoseHost(address: Address, host: EndPoint): Promise<FailureExplanation | undefined> {
  const endpoint = `${host.address}:${host.port}`;
  const reached = await attempt((settle) => {
    const socket = connectTcp(host.port, host.address, () => settle(undefined));
    socket.on('error', settle);
    return socket;
  });
  if (reached !== undefined) return { sentence: sayUnreached(endpoint, reached), lasts: false };
  const failure = await handshake(host, address.tlsOptions);
  if (!address.tls) {
    if (failure !== undefined) return undefined;
    return { sentence: `the server at ${endpoint} needs TLS: omit tls=false`, lasts: true };
  }
  if (failure === undefined) return undefined;
  return {
    sentence: sayTls(endpoint, failure),
    lasts: failure.code !== 'ETIMEDOUT' && failure.code !== 'ECONNRESET',
  };
}

type Failure = Error & { readonly code?: string };

function sayUnreached(endpoint: string, { code, message }: Failure): string {
  switch (code) {
    case 'ECONNREFUSED':
      return `no server listens at ${endpoint}: start it, or check the port`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `the name of ${endpoint} cannot be resolved: check it, and DNS`;
    case 'ETIMEDOUT':
      return `${endpoint} does not answer: check the address, the network and firewalls`;
    default:
      return `${endpoint} cannot be reached: ${message}`;
  }
}

function sayTls(endpoint: string, { code = '', message }: Failure): string {
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return `the certificate of ${endpoint} is for another name (${message}): use a name that is in it`;
  }
  if (code === 'CERT_HAS_EXPIRED')
    return `the certificate of ${endpoint} has expired: renew it on the server`;
  if (/SELF_SIGNED|UNABLE_TO|CERT_/.test(code)) {
    return `the certificate of ${endpoint} is not trusted (${message}): name the file of its authority with tlsCAFile=FILE`;
  }
  if (code === 'EPROTO' || /wrong version|SSL/i.test(code + message)) {
    return `the server at ${endpoint} has no TLS: add tls=false if that is intended`;
  }
  if (code === 'ETIMEDOUT')
    return `${endpoint} accepts connections and does not answer: the server may be stopped, or have no TLS`;
  return `TLS with ${endpoint} fails: ${message}`;
}

function handshake(host: EndPoint, options: object): Promise<Failure | undefined> {
  return attempt((settle) => {
    const servername = isIP(host.address) === 0 ? { servername: host.address } : {};
    const settings = {
      host: host.address,
      port: host.port,
      ALPNProtocols: ['h2'],
      ...servername,
      ...options,
    };
    const socket: TLSSocket = connectTls(settings, () => settle(undefined));
    socket.on('error', settle);
    return socket;
  });
}

/** Resolves to the failure of an attempt; undefined if it succeeded. */
function attempt(
  start: (settle: (failure: Failure | undefined) => void) => { destroy(): void },
): Promise<Failure | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(
      () => settle(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' })),
      PROBE_TIMEOUT_MS,
    );
    const settle = (failure: Failure | undefined) => {
      clearTimeout(timer);
      resolve(failure);
      socket.destroy();
    };
    const socket = start((failure) => settle(failure));
  });
}
