import { lookup } from 'node:dns/promises';
import net from 'node:net';
import { getSystemErrorName } from 'node:util';

/** A listening socket that outlives the workers that accept its connections. */
export type HeldSocket = {
  readonly handle: SocketHandle;
  /** Closes the supervisor's part: connections are refused once no worker listens. */
  close(): void;
};

/** Node's own object around a socket. A worker that receives it can listen with it. */
export type SocketHandle = {
  close(): void;
  /** Returns the system's error, 0 for none. */
  getsockname(out: object): number;
};

/** Node has no public way to hold a listening socket without accepting its connections. Its cluster module uses this class. */
type Internals = {
  _createServerHandle(address: string, port: number, family: number): SocketHandle | number;
};

/** Binds the address. Rejects with the system's error if it is not available. */
export async function holdSocket({
  host,
  port,
}: {
  readonly host: string;
  readonly port: number;
}): Promise<HeldSocket> {
  const { address, family } = await lookup(host);
  const handle = (net as unknown as Internals)._createServerHandle(address, port, family);
  if (typeof handle === 'number') throw systemError(handle, `${address}:${port}`);
  // libuv keeps the error of an address in use for `listen`: without this check another process would get another port
  // instead.
  const error = handle.getsockname({});
  if (error === 0) return { handle, close: () => handle.close() };
  handle.close();
  throw systemError(error, `${address}:${port}`);
}

/** Returns the system error with this number. Its `code` is the name, such as EADDRINUSE. */
export function systemError(error: number, where: string): Error {
  const code = getSystemErrorName(error);
  return Object.assign(new Error(`${code}: ${where}`), { code });
}
