import { type AddressInfo, createServer, type Socket } from 'node:net';

/** A listening socket that outlives the workers that answer its connections. */
export type HeldSocket = {
  readonly address: AddressInfo;
  /** Hands connections to this receiver from now on, those that wait first. undefined: nobody serves, they wait. */
  passTo(receiver: Receiver | undefined): void;
  /** The receiver has the connection of this number; a connection that it did not accept goes to the next receiver. */
  accepted(id: number): void;
  /** Refuses connections from now on. */
  close(): void;
};

export type Receiver = (id: number, connection: Socket) => void;

export type HeldSocketOptions = {
  readonly host: string;
  readonly port: number;
  /** Takes a connection that cannot wait any longer. */
  readonly refuse: (connection: Socket) => void;
  readonly limits?: WaitLimits;
};

export type WaitLimits = {
  /** Connections that no worker has accepted yet. */
  readonly waiting: number;
  /** How long connections wait while nobody serves. */
  readonly ms: number;
};

const WAIT_LIMITS: WaitLimits = { waiting: 1_000, ms: 30_000 };

/** Rejects with the system's error when the address cannot be had. */
export function holdSocket({
  host,
  port,
  refuse,
  limits = WAIT_LIMITS,
}: HeldSocketOptions): Promise<HeldSocket> {
  const waiting = new Map<number, Socket>();
  let receiver: Receiver | undefined;
  let lastId = 0;
  let isPatient = true;
  let patience: NodeJS.Timeout | undefined;

  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (connection) => {
    connection.on('error', () => {});
    if (waiting.size >= limits.waiting || !isPatient) return refuse(connection);
    waiting.set(++lastId, connection);
    receiver?.(lastId, connection);
  });

  function loseReceiver(): void {
    receiver = undefined;
    patience ??= setTimeout(() => {
      isPatient = false;
      for (const connection of waiting.values()) refuse(connection);
      waiting.clear();
    }, limits.ms);
  }

  function gainReceiver(next: Receiver): void {
    clearTimeout(patience);
    patience = undefined;
    isPatient = true;
    receiver = next;
    for (const [id, connection] of waiting) next(id, connection);
  }

  loseReceiver();
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      clearTimeout(patience);
      reject(error);
    });
    server.listen({ host, port }, () => {
      server.removeAllListeners('error');
      // A connection that cannot be accepted is lost; those that can be are served.
      server.on('error', () => {});
      resolve({
        address: server.address() as AddressInfo,
        passTo: (next) => (next === undefined ? loseReceiver() : gainReceiver(next)),
        accepted(id) {
          // The worker has a descriptor of its own; this closes the supervisor's.
          waiting.get(id)?.destroy();
          waiting.delete(id);
        },
        close: () => void server.close(),
      });
    });
  });
}
