import { connect, type Socket } from 'node:net';

/** A client that sends arbitrary bytes. It reads nothing until a test asks for it. */
export type RawClient = {
  readonly socket: Socket;
  send(text: string | Uint8Array): void;
  /** Resolves to everything that arrived until the server ended the connection, or within `wait` ms. */
  readAll(wait?: number): Promise<string>;
  /** Resolves to the status of the next `count` answers. Pauses `pause` ms between reads. Rejects if the connection ends before. */
  statuses(count: number, pause?: number): Promise<number[]>;
};

export async function openRaw(url: string): Promise<RawClient> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  socket.pause();
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  socket.on('error', () => {});
  return {
    socket,
    send: (text) => void socket.write(text),
    readAll: (wait = 5_000) => readAll(socket, wait),
    statuses: (count, pause = 0) => readStatuses(socket, count, pause),
  };
}

function readAll(socket: Socket, wait: number): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const done = () => {
      clearTimeout(timer);
      socket.destroy();
      resolve(text);
    };
    const timer = setTimeout(done, wait);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.once('end', done).once('close', done);
    socket.resume();
  });
}

async function readStatuses(socket: Socket, count: number, pause: number): Promise<number[]> {
  const statuses: number[] = [];
  let head = '';
  let body = 0;
  const take = (chunk: Buffer): void => {
    for (let at = 0; at < chunk.length; ) {
      if (body > 0) {
        const taken = Math.min(body, chunk.length - at);
        body -= taken;
        at += taken;
      } else {
        const before = head.length;
        head += chunk.toString('latin1', at, at + 16_384);
        const end = head.indexOf('\r\n\r\n');
        if (end === -1) return;
        at += end + 4 - before;
        statuses.push(Number(head.slice(9, 12)));
        body = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
        head = '';
      }
      if (body === 0 && statuses.length >= count) return;
    }
  };
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    take(chunk);
    if (body === 0 && statuses.length >= count) return statuses;
    if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
  }
  throw new Error(`${statuses.length} answers of ${count}, the last without ${body} bytes, then the end`);
}
