import type { ChildProcess } from 'node:child_process';
import type { Server } from 'node:http';
import net, { type AddressInfo, Socket } from 'node:net';

/**
 * All private parts of Node that this program uses, because Node has no public way to do the same. A new version of Node may change them:
 * `test/architecture/private-node.test.ts` has a test for each, which says what breaks without it.
 */

/** Node's own object around a socket. A worker that receives it can listen with it. */
export type SocketHandle = {
  close(): void;
  /** Returns the system's error, 0 for none. */
  getsockname(out: object): number;
};

type Acceptor = SocketHandle & {
  onconnection: (error: number, connection: SocketHandle | undefined) => void;
  listen(backlog: number): number;
};

type Internals = {
  _createServerHandle(address: string, port: number, family: number): SocketHandle | number;
};

/**
 * Binds an address without accepting connections, as Node's cluster module does. Returns the number of the system's error if that fails at
 * once. A server of `node:net` would accept the connections itself.
 */
export function bindSocket(address: string, port: number, family: number): SocketHandle | number {
  return (net as unknown as Internals)._createServerHandle(address, port, family);
}

/**
 * Accepts connections of a bound socket without reading from them, so that they can be sent to another process. Returns the number of the
 * system's error, 0 for none.
 */
export function acceptConnections(
  socket: SocketHandle,
  backlog: number,
  accepted: (connection: SocketHandle) => void,
): number {
  const acceptor = socket as Acceptor;
  acceptor.onconnection = (_error, connection) => connection && accepted(connection);
  return acceptor.listen(backlog);
}

/** Returns the address of a bound socket on which this process may not listen yet. */
export function addressOf(socket: object): Partial<AddressInfo> {
  const address = {};
  (socket as SocketHandle).getsockname(address);
  return address;
}

/** Makes a socket of a connection that another process has accepted, as Node's HTTP server does. */
export function connectedSocket(handle: object): Socket {
  const options = { handle, allowHalfOpen: true, readable: true, writable: true };
  return new Socket(options as ConstructorParameters<typeof Socket>[0]).setNoDelay(true);
}

/** Lets a client that closes its side after its last request get the answers. The option is in Node since 0.8. */
export function answerHalfClosed(server: Server): void {
  (server as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
}

/**
 * Calls back when a process could not receive a socket that was sent to it, since it may open no more files. Node drops the message then,
 * and has no other sign of it.
 */
export function onLostSocket(child: ChildProcess, lost: () => void): void {
  child.on('internalMessage', ({ cmd }: { readonly cmd?: string }) => {
    if (cmd === 'NODE_HANDLE_NACK') lost();
  });
}
