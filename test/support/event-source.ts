import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import { createCondition } from '../../shared/condition.ts';

export type ServerEvent = { readonly event: string; readonly data: string; readonly id: string };

/** Reads a stream of server-sent events like EventSource, but never reconnects. */
export type EventReader = {
  readonly events: readonly ServerEvent[];
  readonly status: number;
  /** Returns the last id, which EventSource would send when it reconnects. */
  lastId(): string;
  retry(): number | undefined;
  comments(): number;
  /** Resolves when `holds` returns true. It is called after each block and at the end. Rejects after `ms`, by default a minute. */
  until(holds: (reader: EventReader) => boolean, ms?: number): Promise<void>;
  isEnded(): boolean;
  /** Stops reading for now. */
  pause(): void;
  close(): void;
};

/** Opens a stream. Rejects with the answer's text unless its status is 200. */
export async function openEvents(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<EventReader> {
  const [request, response] = await new Promise<[ClientRequest, IncomingMessage]>((resolve, reject) => {
    const sent = get(url, { headers: { accept: 'text/event-stream', ...headers }, agent: false }, (answer) =>
      resolve([sent, answer]),
    );
    sent.once('error', reject);
  });
  if (response.statusCode !== 200) {
    let text = '';
    for await (const part of response) text += String(part);
    throw new Error(`${response.statusCode} ${text}`);
  }
  const events: ServerEvent[] = [];
  const moved = createCondition();
  let rest = '';
  let id = '';
  let retry: number | undefined;
  let comments = 0;
  let isEnded = false;
  const take = (block: string) => {
    let event = 'message';
    const data: string[] = [];
    const fields: Readonly<Record<string, (value: string) => void>> = {
      '': () => {
        comments++;
      },
      id(value) {
        id = value;
      },
      event(value) {
        event = value;
      },
      retry(value) {
        retry = Number(value);
      },
      data: (value) => void data.push(value),
    };
    for (const line of block.split('\n')) {
      const at = line.indexOf(':');
      const [name, value] = at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 1).replace(/^ /, '')];
      fields[name]?.(value);
    }
    if (data.length > 0) events.push({ event, data: data.join('\n'), id });
  };
  response.setEncoding('utf8').on('data', (text: string) => {
    const blocks = (rest + text).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) take(block);
    moved.check();
  });
  const end = () => {
    isEnded = true;
    moved.check();
  };
  response.once('close', end).on('error', end);
  request.on('error', end);
  const reader: EventReader = {
    events,
    status: response.statusCode,
    lastId: () => id,
    retry: () => retry,
    comments: () => comments,
    async until(holds, ms = 60_000) {
      if (await moved.until(() => holds(reader), ms)) return;
      throw new Error(
        `it did not happen; events: ${JSON.stringify(events).slice(0, 1_000)}, ended: ${isEnded}`,
      );
    },
    isEnded: () => isEnded,
    pause: () => void response.pause(),
    close: () => request.destroy(),
  };
  return reader;
}
