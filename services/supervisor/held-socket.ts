import { lookup } from 'node:dns/promises';
import { getSystemErrorName } from 'node:util';
import { bindSocket, type SocketHandle } from '../http/sockets/private-node.ts';

/** A listening socket that outlives the workers that accept its connections. */
export type HeldSocket = {
  readonly handle: SocketHandle;
  /** Closes the supervisor's part: connections are refused once no worker listens. */
  close(): void;
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
  const handle = bindSocket(address, port, family);
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
