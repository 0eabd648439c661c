import { connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP proxy that can cut connections, or keep them open without an answer. */
export type TcpGate = {
  readonly port: number;
  /** Behaves like a process that was stopped (SIGSTOP): the kernel accepts connections, and nothing answers. */
  freeze(): void;
  thaw(): void;
  /** Behaves like a proxy that has forgotten its connections: their bytes are dropped, and new connections work. */
  forget(): void;
  /** Behaves like a process that was killed: connections end, new ones are refused. */
  cut(): Promise<void>;
  restore(): Promise<void>;
  /** Returns the number of open connections. */
  open(): number;
  stop(): Promise<void>;
};

export const openTcpGate = async (targetPort: number): Promise<TcpGate> => {
  const sockets = new Set<Socket>();
  let isFrozen = false;
  const hold = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    if (isFrozen) socket.pause();
  };
  const accept = (incoming: Socket) => {
    const outgoing = connect(targetPort, '127.0.0.1');
    // Both ends of gRPC send without delay. Nagle's algorithm in this proxy would add 40 ms to an exchange.
    for (const socket of [incoming, outgoing]) hold(socket.setNoDelay());
    incoming.on('data', (bytes) => outgoing.write(bytes));
    outgoing.on('data', (bytes) => incoming.write(bytes));
    incoming.on('close', () => outgoing.destroy());
    outgoing.on('close', () => incoming.destroy());
    if (isFrozen) for (const socket of [incoming, outgoing]) socket.pause();
  };
  let server: Server = createServer(accept);
  const listen = (port: number) =>
    new Promise<number>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
    });
  const port = await listen(0);
  const cut = async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return {
    port,
    freeze() {
      isFrozen = true;
      for (const socket of sockets) socket.pause();
    },
    thaw() {
      isFrozen = false;
      for (const socket of sockets) socket.resume();
    },
    forget() {
      for (const socket of sockets) socket.pause();
    },
    cut,
    async restore() {
      server = createServer(accept);
      await listen(port);
    },
    open: () => sockets.size / 2,
    stop: cut,
  };
};
