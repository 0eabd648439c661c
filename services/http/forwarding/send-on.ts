import {
  type ClientRequest,
  Agent as HttpAgent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestPlain,
} from 'node:http';
import { Agent as HttpsAgent, request as requestSecure } from 'node:https';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Leader } from '../../../shared/fleet/lease.ts';
import {
  ANSWER_HEADER,
  COMMAND_HEADER,
  DIGEST_TRAILER,
  digestOfBody,
  type ProvedBody,
  type RequestHead,
  type SignedCommand,
  signCommand,
} from '../../fleet/command-proof.ts';
import type { Membership } from '../../fleet/membership.ts';
import type { ProvenLeader } from '../../fleet/question.ts';
import { endToEndHeaders } from '../answers/connection-headers.ts';
import { NOT_LEADING_HEADER } from '../answers/responses.ts';
import { POSITION_HEADER } from '../requests/await-position.ts';
import { digestBytes } from './digest-bytes.ts';
import { connectToLeader } from './leader-connection.ts';

/** A write to forward to the leader. */
export type SentWrite = RequestHead & {
  /** A stream is read once. Null: there is no body. */
  readonly body: string | Readable | null;
  /** Identity of the command. A write that is sent again has the same identity. */
  readonly command: string;
};

export type SentAnswer = {
  readonly statusCode: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
};

/** `unreached`: the write was not carried out. `lost`: it may have been carried out, or its stream was read and cannot be sent again. */
export type ForwardOutcome =
  | { readonly kind: 'answered'; readonly answer: SentAnswer }
  | { readonly kind: 'unreached' }
  | { readonly kind: 'lost' };

/** Headers between two processes of a log. */
const OURS = [COMMAND_HEADER, ANSWER_HEADER];
/** Headers for this process only: its name, and an expectation that it has met. */
const OF_THIS_PROCESS = ['host', 'expect'];

/** Time limit of an answer. A stored write waits a shorter time until reads show it. */
const ANSWER_MS = 60_000;

export type Sender = {
  /** Sends a write to a process, after that process has proved that it is the leader. `signal` aborts the request. */
  send(leader: Leader, write: SentWrite, signal: AbortSignal): Promise<ForwardOutcome>;
  close(): void;
};

/** Connections of a term, and the leader that each of them leads to. */
type Line = {
  readonly claim: string;
  readonly agent: HttpAgent;
  readonly met: WeakMap<Socket, ProvenLeader>;
};

/** Creates a sender. `answerMs`: maximum time without a byte of the answer. */
export function createSender(membership: Membership, answerMs = ANSWER_MS): Sender {
  let line: Line | undefined;
  const lineTo = (leader: Leader): Line => {
    if (line?.claim === leader.claim) return line;
    line?.agent.destroy();
    line = openLine(membership, leader);
    return line;
  };
  return {
    send: (leader, write, signal) =>
      sendOver(lineTo(leader), { membership, leader, write, signal, answerMs }),
    close: () => line?.agent.destroy(),
  };
}

function openLine(membership: Membership, leader: Leader): Line {
  const met = new WeakMap<Socket, ProvenLeader>();
  const agent = leader.address.startsWith('https:') ? new HttpsAgent(KEPT) : new HttpAgent(KEPT);
  agent.createConnection = (_options, opened) => {
    connectToLeader(membership, leader).then(
      (connection) => {
        met.set(connection.socket, connection.met);
        opened?.(null, connection.socket);
      },
      // The callback's type demands a stream even with an error, and there is none.
      (error: Error) => opened?.(error, undefined as never),
    );
    return undefined;
  };
  return { claim: leader.claim, agent, met };
}

const KEPT = { keepAlive: true };

type Sending = {
  readonly membership: Membership;
  readonly leader: Leader;
  readonly write: SentWrite;
  readonly signal: AbortSignal;
  readonly answerMs: number;
};

async function sendOver(line: Line, sending: Sending): Promise<ForwardOutcome> {
  const { leader, write, signal, answerMs } = sending;
  const isSecure = leader.address.startsWith('https:');
  // The path is passed separately, because in a URL it could name another host.
  const { host } = new URL(leader.address);
  const request = (isSecure ? requestSecure : requestPlain)({
    agent: line.agent,
    method: write.method,
    path: write.url,
    signal,
    timeout: answerMs,
    headers: { ...sentHeaders(write), host },
  });
  const answered = Promise.withResolvers<IncomingMessage>();
  answered.promise.catch(() => {});
  request.once('response', answered.resolve).on('error', answered.reject);
  request.once('timeout', () => request.destroy(new Error('there is no answer')));
  let isSent = false;
  try {
    const socket = await socketOf(request, answered.promise);
    const met = line.met.get(socket);
    if (met === undefined) throw new Error('no question was sent on this connection');
    isSent = true;
    const signed = sign(request, sending, met);
    sendBody(request, write.body, signed).catch(answered.reject);
    const { answer, now } = await verified(await answered.promise, signed);
    // Measures the offset of the two clocks again, because they drift apart.
    if (now !== undefined) line.met.set(socket, { ...met, offset: now - performance.now() });
    if (answer !== undefined) return { kind: 'answered', answer };
    // The process reports that it did nothing. But a stream cannot be sent again.
    return now === undefined || write.body instanceof Readable ? LOST : { kind: 'unreached' };
  } catch {
    request.destroy();
    return isSent ? LOST : { kind: 'unreached' };
  }
}

const LOST: ForwardOutcome = { kind: 'lost' };

/** Resolves with the connection before anything is sent on it. */
function socketOf(request: ClientRequest, failed: Promise<unknown>): Promise<Socket> {
  const { promise, resolve } = Promise.withResolvers<Socket>();
  request.once('socket', resolve);
  return Promise.race([promise, failed.then(() => promise)]);
}

function sign(
  request: ClientRequest,
  { membership, leader, write }: Sending,
  met: ProvenLeader,
): SignedCommand {
  const { method, url, headers, body, command: id } = write;
  const proved: ProvedBody =
    typeof body === 'string' || body === null
      ? { kind: 'text', digest: digestOfBody(body ?? '') }
      : { kind: 'stream', length: headers['content-length'] ?? '' };
  const command = { id, claim: leader.claim, owner: membership.owner };
  const signed = signCommand(met, command, { method, url, headers }, proved);
  request.setHeader(COMMAND_HEADER, signed.header);
  return signed;
}

async function sendBody(
  request: ClientRequest,
  body: SentWrite['body'],
  { trailer }: SignedCommand,
): Promise<void> {
  if (body === null || typeof body === 'string') {
    request.end(body ?? undefined);
    return;
  }
  // Without this header Node sends no body with a DELETE.
  request.setHeader('transfer-encoding', 'chunked');
  request.setHeader('trailer', DIGEST_TRAILER);
  const counted = digestBytes();
  for await (const part of body) {
    counted.add(part);
    if (!request.write(part)) await drained(request);
  }
  const { digest, length } = counted.end();
  request.addTrailers({ [DIGEST_TRAILER]: trailer(digest, length) });
  request.end();
}

function drained(request: ClientRequest): Promise<void> {
  return new Promise((resolve, reject) => {
    request.once('drain', resolve).once('close', () => reject(new Error('the connection was closed')));
  });
}

/** Verifies an answer. Without `now` it is not from the leader. Without `answer` the process is no longer the leader. */
async function verified(
  response: IncomingMessage,
  signed: SignedCommand,
): Promise<{ readonly answer?: SentAnswer; readonly now?: number }> {
  const body = await buffer(response);
  const { statusCode = 0, headers } = response;
  const answer = { status: statusCode, position: String(headers[POSITION_HEADER] ?? ''), body };
  const now = signed.verify(answer, headers[ANSWER_HEADER] as string | undefined);
  if (now === undefined) return {};
  return headers[NOT_LEADING_HEADER] === undefined ? { answer: { statusCode, headers, body }, now } : { now };
}

function sentHeaders({ headers, body }: SentWrite): IncomingHttpHeaders {
  const sent = endToEndHeaders(headers, [...OURS, ...OF_THIS_PROCESS, 'content-length']);
  return typeof body === 'string' ? { ...sent, 'content-length': String(Buffer.byteLength(body)) } : sent;
}

/** Returns the headers of an answer that are passed on to the client. */
export function answerHeaders({ headers }: SentAnswer): IncomingHttpHeaders {
  return endToEndHeaders(headers, OURS);
}
