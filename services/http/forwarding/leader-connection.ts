import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectSecure } from 'node:tls';
import type { Leader } from '../../../shared/fleet/lease.ts';
import type { Membership } from '../../fleet/membership.ts';
import { askLeader, LEADER_PATH, PROOF_HEADER, QUESTION_HEADER } from '../../fleet/question.ts';

/** Time limit for the first exchange on a connection, which identifies the other process. */
const HANDSHAKE_MS = 3_000;
const LONGEST_ANSWER = 16_384;

/**
 * Opens a connection to a leader. The other process proves on that connection that it is the leader and that it shares this process's log.
 * Before that, nothing of a write or its sender is sent. Rejects if the proof fails.
 */
export async function connectToLeader(membership: Membership, leader: Leader) {
  const question = await askLeader(membership, leader);
  const { protocol, hostname, port, host } = new URL(leader.address);
  const target = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) };
  const socket =
    protocol === 'https:'
      ? connectSecure({ ...target, port: target.port || 443, servername: target.host })
      : connectPlain({ ...target, port: target.port || 80 });
  // A connection that is not used yet may fail: its user notices that when it writes.
  socket.on('error', () => {});
  try {
    const asked = `GET ${LEADER_PATH} HTTP/1.1\r\nhost: ${host}\r\n${QUESTION_HEADER}: ${question.header}\r\n\r\n`;
    const { headers, body } = await exchange(socket.setNoDelay(), asked);
    const met = await question.verify(headers.get(PROOF_HEADER), body);
    if (met === undefined) throw new Error(`the process at ${leader.address} is not the leader of this log`);
    if (socket.destroyed || headers.get('connection') === 'close') throw new Error('the leader is stopping');
    return { socket, met };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

type HandshakeAnswer = { readonly headers: ReadonlyMap<string, string>; readonly body: string };

/** Sends a request without a body. Resolves with the answer, which must have a `content-length`. */
function exchange(socket: Socket, request: string): Promise<HandshakeAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<HandshakeAnswer>();
  let received = '';
  const timer = setTimeout(() => reject(new Error('there is no answer')), HANDSHAKE_MS);
  const take = (part: Buffer) => {
    received += part.toString('latin1');
    try {
      const answer = parseAnswer(received);
      if (answer !== undefined) resolve(answer);
      else if (received.length > LONGEST_ANSWER) reject(new Error('the answer is too long'));
    } catch (error) {
      reject(error);
    }
  };
  const end = () => reject(new Error('the connection was closed'));
  socket.on('data', take).once('error', reject).once('close', end).write(request);
  return promise.finally(() => {
    clearTimeout(timer);
    socket.off('data', take).off('error', reject).off('close', end);
  });
}

function parseAnswer(text: string): HandshakeAnswer | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  if (!first.startsWith('HTTP/1.1 200 ')) throw new Error(`the answer is ${first}`);
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  const body = text.slice(end + 4);
  return body.length < Number(headers.get('content-length') ?? Number.NaN) ? undefined : { headers, body };
}
