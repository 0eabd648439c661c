import type { IncomingMessage } from 'node:http';

/** Form of `Accept` with this type first. EventSource sends no other type. A quality of 0 means that the client does not accept it. */
const EVENT_STREAM = /^\s*text\/event-stream\s*(?!;\s*q=0(?:\.0*)?\s*(?:,|$))(?:[;,]|$)/i;

/** Returns whether a request asks for a stream of events, as EventSource does. */
export function wantsStream({ method, headers }: Pick<IncomingMessage, 'headers' | 'method'>): boolean {
  return method === 'GET' && acceptsStream(headers.accept);
}

/** Returns whether a header `Accept` asks for a stream of events. */
export function acceptsStream(accept: string | undefined): boolean {
  return accept !== undefined && EVENT_STREAM.test(accept);
}
