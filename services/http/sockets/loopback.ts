import { BlockList, isIP } from 'node:net';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Returns whether only this machine can reach an address. The only name known to be local is `localhost`. */
export function isLoopback(host: string): boolean {
  const family = isIP(host);
  return host === 'localhost' || (family !== 0 && LOOPBACK.check(host, family === 6 ? 'ipv6' : 'ipv4'));
}

/** Returns whether a server on this address accepts requests on every address of its machine. */
export function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}
