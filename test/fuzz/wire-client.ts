import { connect, type Socket } from 'node:net';

/** An answer, or the reason why there is none. */
export type WireAnswer =
  | { readonly kind: 'answer'; readonly status: number; readonly head: string; readonly body: string }
  | { readonly kind: 'cut'; readonly why: string };

/** A client that sends the bytes of one request after the other. */
export type WireClient = {
  /** Sends a complete request on the open connection. */
  ask(request: Uint8Array, method: string): Promise<WireAnswer>;
  /** Sends any bytes on a new connection and ends its own side. Returns all answers until the server ends the connection. */
  throwIn(bytes: Uint8Array): Promise<readonly WireAnswer[]>;
  close(): void;
};

/** Timeout, longer than any answer may take. */
const PATIENCE_MS = 30_000;

export function createWireClient(url: string): WireClient {
  const { hostname, port } = new URL(url);
  const open = (): Socket =>
    connect({ host: hostname, port: Number(port), allowHalfOpen: true, noDelay: true });
  let socket: Socket | undefined;

  async function askOnce(request: Uint8Array, method: string): Promise<WireAnswer> {
    const used = socket ?? open();
    socket = used;
    const { answer, isLast } = await exchange(used, request, method);
    if (isLast) {
      used.destroy();
      socket = undefined;
    }
    return answer;
  }

  return {
    async ask(request, method) {
      const isReused = socket !== undefined;
      const answer = await askOnce(request, method);
      // Retry, since a server may close an idle connection at any time.
      return isReused && answer.kind === 'cut' ? askOnce(request, method) : answer;
    },
    throwIn: (bytes) => throwIn(open(), bytes),
    close: () => socket?.destroy(),
  };
}

type Exchanged = { readonly answer: WireAnswer; readonly isLast: boolean };

function exchange(socket: Socket, request: Uint8Array, method: string): Promise<Exchanged> {
  return new Promise((resolve) => {
    let bytes: Buffer = Buffer.alloc(0);
    const end = (exchanged: Exchanged): void => {
      clearTimeout(timer);
      socket.removeAllListeners();
      socket.on('error', () => {});
      resolve(exchanged);
    };
    const cut = (why: string) => end({ answer: { kind: 'cut', why }, isLast: true });
    const timer = setTimeout(() => cut('no answer in 30 s'), PATIENCE_MS);
    socket.on('data', (chunk: Buffer) => {
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
      const read = readAnswer(bytes, method);
      if (read !== undefined) end({ answer: read.answer, isLast: read.isLast });
    });
    socket.once('error', (error: NodeJS.ErrnoException) => cut(error.code ?? error.message));
    socket.once('end', () => cut('ended without an answer'));
    socket.write(request);
  });
}

function throwIn(socket: Socket, bytes: Uint8Array): Promise<readonly WireAnswer[]> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const end = (why?: string): void => {
      clearTimeout(timer);
      socket.destroy();
      const text = Buffer.concat(chunks).toString('latin1');
      const answers: WireAnswer[] = statusesIn(text).map((status) => ({
        ...{ kind: 'answer', status, head: '', body: text },
      }));
      if (why !== undefined && answers.length === 0) answers.push({ kind: 'cut', why });
      resolve(answers);
    };
    const timer = setTimeout(() => end('no answer in 30 s'), PATIENCE_MS);
    socket.on('data', (chunk: Buffer) => void chunks.push(chunk));
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
    socket.once('end', () => end());
    socket.end(bytes);
  });
}

/** Returns the status codes of the final answers. It does not parse bodies: after damaged requests, nobody knows where an answer ends. */
function statusesIn(text: string): readonly number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) [A-Z]/g)]
    .map(([, status]) => Number(status))
    .filter((status) => status !== 100);
}

type ReadAnswer = { readonly answer: WireAnswer; readonly length: number; readonly isLast: boolean };

/** Returns the first answer in these bytes, or undefined if it is incomplete. */
function readAnswer(bytes: Buffer, method: string): ReadAnswer | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd === -1) return undefined;
  const head = bytes.toString('latin1', 0, headEnd);
  const status = Number(head.slice(9, 12));
  const from = headEnd + 4;
  if (status === 100) {
    const rest = readAnswer(bytes.subarray(from), method);
    return rest && { ...rest, length: rest.length + from };
  }
  // A stream does not end, so its first block is the answer.
  if (/^content-type: text\/event-stream/im.test(head)) {
    const block = bytes.indexOf('\n\n', from);
    if (block === -1 && method !== 'HEAD') return undefined;
    const body = bytes.toString('utf8', from);
    return { answer: { kind: 'answer', status, head, body }, length: bytes.length, isLast: true };
  }
  const isLast = /^connection: close\r?$/im.test(head);
  const given = /^content-length: (\d+)\r?$/im.exec(head)?.[1];
  const body = bodyOf(bytes, from, method === 'HEAD' || status === 204 || status === 304 ? '0' : given);
  if (body === undefined) return undefined;
  return { answer: { kind: 'answer', status, head, body: body.text }, length: body.end, isLast };
}

function bodyOf(bytes: Buffer, from: number, length: string | undefined) {
  if (length !== undefined) {
    const end = from + Number(length);
    return bytes.length < end ? undefined : { text: bytes.toString('utf8', from, end), end };
  }
  const end = bytes.indexOf('\r\n0\r\n\r\n', from - 2);
  return end === -1 ? undefined : { text: bytes.toString('utf8', from, end), end: end + 7 };
}
