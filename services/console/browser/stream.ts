import { connection, messageOf, ownPath, type Request, token } from './api.ts';

/** An event of a stream: its name, and its data as parsed JSON. */
export type StreamFrame = { readonly event: string; readonly data: unknown };

/**
 * Opens a stream of server-sent events, and calls `seen` for each event. Resolves when the stream ends. Rejects with the message of a refused
 * request, and if the server does not answer. Unlike EventSource it can send a token, any method and a body.
 */
export async function openStream(
  { method, path, body }: Request,
  seen: (frame: StreamFrame) => void,
  signal: AbortSignal,
): Promise<void> {
  const asked = fetch(ownPath(path), {
    method,
    headers: {
      accept: 'text/event-stream',
      ...(token.value === null ? {} : { authorization: `Bearer ${token.value}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal,
    cache: 'no-store',
    redirect: 'error',
  });
  const response = await asked.catch((error: unknown) => {
    if (!signal.aborted) connection.value = 'lost';
    throw error;
  });
  connection.value = 'live';
  if (!response.ok || response.body === null) throw new Error(await refusalOf(response));
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let pending = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (pending + decoder.decode(value, { stream: true })).split('\n\n');
    pending = blocks.pop() ?? '';
    for (const block of blocks) {
      const frame = parseBlock(block);
      if (frame !== undefined) seen(frame);
    }
  }
}

async function refusalOf(response: Response): Promise<string> {
  const json: unknown = await response.json().catch(() => undefined);
  return messageOf({ status: response.status, json });
}

/** Returns the event of a block; undefined for a sign of life. */
function parseBlock(block: string): StreamFrame | undefined {
  const event = /^event: (.*)$/m.exec(block)?.[1];
  const data = /^data: (.*)$/m.exec(block)?.[1];
  return event === undefined || data === undefined ? undefined : { event, data: JSON.parse(data) };
}
