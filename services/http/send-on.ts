import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { COMMAND_HEADER } from '../fleet/command-proof.ts';
import { NOT_LEADING_HEADER } from './responses.ts';

/** A write on its way to the process that leads. */
export type SentWrite = {
  readonly method: string;
  /** Path and query as they came. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Null: none. A stream is read once. */
  readonly body: string | Readable | null;
  /** See CommandProof. */
  readonly command: string;
};

export type SentAnswer = Dispatcher.ResponseData;

/** About a connection, not about the request or its answer (RFC 9110, section 7.6.1). */
const OF_THE_CONNECTION = [
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  ...['host', 'expect'],
];

/** Longer than a write may take that is stored and waits to be shown. */
const ANSWER_MS = 60_000;

export type Sender = {
  /**
   * The answer of the process at an address; undefined when it has none: it cannot be reached, or does not lead. `signal` gives
   * it up.
   */
  send(address: string, write: SentWrite, signal: AbortSignal): Promise<SentAnswer | undefined>;
  close(): Promise<void>;
};

export function createSender(): Sender {
  let client: ReturnType<typeof openClient> | undefined;
  return {
    async send(address, { method, url, headers, body, command }, signal) {
      client ??= openClient();
      try {
        const dispatcher = await client;
        const { origin } = new URL(address);
        // Not a URL made of both: what came as a path could name another host.
        const answer = await dispatcher.request({
          ...{ origin, path: url },
          ...{ method: method as Dispatcher.HttpMethod, body, signal },
          headers: { ...withoutConnection(headers, typeof body === 'string'), [COMMAND_HEADER]: command },
        });
        if (answer.headers[NOT_LEADING_HEADER] === undefined) return answer;
        await answer.body.dump();
        return undefined;
      } catch {
        // Refused, broken off, or given up: whoever leads next is asked.
        return undefined;
      }
    },
    async close() {
      await (await client)?.destroy();
    },
  };
}

/** Loaded with the first write that is sent on: who leads from its start sends none. */
async function openClient() {
  const { Agent } = await import('undici');
  return new Agent({
    headersTimeout: ANSWER_MS,
    bodyTimeout: ANSWER_MS,
    connect: { timeout: 2_000 },
  });
}

/** Headers of an answer as they go on. */
export function answerHeaders({ headers }: SentAnswer): IncomingHttpHeaders {
  return withoutConnection(headers, false);
}

function withoutConnection(headers: IncomingHttpHeaders, isResized: boolean): IncomingHttpHeaders {
  const named = String(headers.connection ?? '')
    .toLowerCase()
    .split(/\s*,\s*/);
  const left = new Set([...OF_THE_CONNECTION, ...named, ...(isResized ? ['content-length'] : [])]);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !left.has(name)));
}
