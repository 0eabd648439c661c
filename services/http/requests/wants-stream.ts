import type { IncomingMessage } from 'node:http';

const EVENT_STREAM = 'text/event-stream';

/** Returns whether a request asks for a stream of events, as EventSource does. */
export function wantsStream({ method, headers }: Pick<IncomingMessage, 'headers' | 'method'>): boolean {
  return method === 'GET' && headers.accept?.startsWith(EVENT_STREAM) === true;
}
