import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';

/** Sends a request on a new connection, because a connection to a killed process is lost. `body` is JSON. */
export async function askOnce(
  url: string,
  method = 'GET',
  body?: string,
): Promise<{ readonly status: number; readonly text: string }> {
  const headers = body === undefined ? {} : { 'content-type': 'application/json' };
  const sent = request(url, { agent: false, method, headers }).end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, text: await text(answer) };
}
