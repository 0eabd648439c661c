import { once } from 'node:events';
import { type IncomingMessage, request as openRequest } from 'node:http';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { OperatorChannel } from '../../shared/sqlite/lock-data-directory.ts';
import { type AnswerLine, SECRET_HEADER } from './operator-protocol.ts';
import { NOT_WATCHED, type Silence, watchSilence } from './watch-silence.ts';

/** Time limit of a start, which may load much data or wait for a cluster. */
const STARTING_LIMIT_MS = 60_000;
const STARTING_PAUSE_MS = 100;

/** Error of a server that does not answer or has ended. */
export class ServerGone extends Error {}

/** Error of a server that runs and has sent nothing for a minute, not even a sign of life: it is paused or hangs. */
export class ServerSilent extends ServerGone {
  constructor(pid: number) {
    super(
      `the server of the data directory, process ${pid}, has sent nothing for a minute. If it or its worker is paused (T in \`ps -ef -o pid,ppid,stat,args\`), continue it with kill -CONT; otherwise end it with kill -9 and start it again. Then run this command again`,
    );
  }
}

/**
 * Runs an operation in a server and yields the lines of its answer. Waits up to a minute for a server that is starting, and for the next
 * sign of life. Throws an Error with a sentence if the operation fails. Throws ServerGone if the server does not answer or ends meanwhile,
 * and ServerSilent if it sends nothing.
 */
export async function* callOperator(
  channel: OperatorChannel,
  name: string,
  form: unknown,
  signal?: AbortSignal,
): AsyncGenerator<unknown> {
  const { pid } = channel;
  const silence = pid === undefined ? NOT_WATCHED : watchSilence(new ServerSilent(pid));
  const request = { name, form, signal: AbortSignal.any([silence.signal, ...(signal ? [signal] : [])]) };
  try {
    yield* linesOf(await startedAnswer(channel, request, silence), silence);
  } catch (error) {
    silence.signal.throwIfAborted();
    throw error;
  } finally {
    silence.end();
  }
}

async function* linesOf(response: IncomingMessage, { heard }: Silence): AsyncGenerator<unknown> {
  if (response.statusCode !== 200) throw new Error((await text(response)).trim());
  let isEnded = false;
  try {
    response.on('data', heard);
    for await (const lineText of createInterface({ input: response })) {
      if (lineText.trim() === '') continue;
      const line = JSON.parse(lineText) as AnswerLine;
      if ('failed' in line) throw new Error(line.failed);
      if ('stopping' in line) throw new ServerGone(line.stopping);
      if ('done' in line) isEnded = true;
      else yield line.line;
    }
  } catch (error) {
    throw isBroken(error) ? new ServerGone(ENDED, { cause: error }) : error;
  } finally {
    response.destroy();
  }
  if (!isEnded) throw new ServerGone(ENDED);
}

const ENDED = 'the server ended before the answer was complete';

function isBroken(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ECONNRESET';
}

type OperatorRequest = { readonly name: string; readonly form: unknown; readonly signal: AbortSignal };

async function startedAnswer(
  channel: OperatorChannel,
  request: OperatorRequest,
  { heard }: Silence,
): Promise<IncomingMessage> {
  const deadline = performance.now() + STARTING_LIMIT_MS;
  for (;;) {
    const response = await send(channel, request);
    heard();
    if (response.statusCode !== 503 || performance.now() > deadline) return response;
    response.resume();
    await delay(STARTING_PAUSE_MS, undefined, { signal: request.signal });
  }
}

/** Sends the request without `fetch`, which fails if an answer pauses for five minutes. */
async function send(
  { address, secret }: OperatorChannel,
  { name, form, signal }: OperatorRequest,
): Promise<IncomingMessage> {
  const request = openRequest(`${address}/_varve/operations/${name}`, {
    method: 'POST',
    headers: { [SECRET_HEADER]: secret, 'content-type': 'application/json' },
    signal,
  });
  request.end(JSON.stringify(form));
  const [response] = (await once(request, 'response').catch((error: Error) => {
    throw new ServerGone(`the server of the data directory does not answer: ${error.message}`);
  })) as [IncomingMessage];
  return response;
}
