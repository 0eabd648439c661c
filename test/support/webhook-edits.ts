import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { createApiClient } from './api-client.ts';
import { createDataDirectory } from './server.ts';

const DOCUMENTS = 4;

type Line = { readonly id: string; readonly documentId: string; readonly key: string };

/** Creates a writer of numbered edits of a few documents. It repeats an edit with an unknown outcome as the same command. */
export async function createEditWriter(url: () => string) {
  const written = new Map<string, string[]>();
  const call = async (method: string, path: string, body: object): Promise<string> => {
    const key = crypto.randomUUID();
    for (;;) {
      try {
        const answer = await fetch(url() + path, {
          method,
          headers: { 'content-type': 'application/json', 'idempotency-key': key },
          body: JSON.stringify(body),
        });
        const { data } = (await answer.json()) as { data?: { documentId: string } };
        if (answer.status < 300 && data !== undefined) return data.documentId;
      } catch {
        // The server is restarting.
      }
      await delay(20);
    }
  };
  const documents: string[] = [];
  for (let n = 0; n < DOCUMENTS; n++) {
    const id = await call('POST', '/api/tags', { data: { key: `d${n}-0` } });
    documents.push(id);
    written.set(id, [`d${n}-0`]);
  }
  return {
    written: () => written,
    async write(rounds: number): Promise<void> {
      for (let round = 0; round < rounds; round++) {
        await Promise.all(
          documents.map(async (id, n) => {
            const keys = written.get(id) ?? [];
            const key = `d${n}-${keys.length}`;
            await call('PUT', `/api/tags/${id}`, { data: { key } });
            keys.push(key);
          }),
        );
      }
    },
  };
}

export async function addWebhook(url: string, receiver: string): Promise<void> {
  const data = { url: receiver, allowPrivate: true };
  await createApiClient(url).data('POST', '/_varve/webhooks', { data });
}

export type ReceiverProcess = Awaited<ReturnType<typeof startReceiverProcess>>;

/** Checks that every edit arrived, those of a document in order. A repetition must have the id of the first delivery. */
export async function checkReceived(
  receiver: ReceiverProcess,
  written: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  const count = [...written.values()].flat().length;
  const distinct = () => [...new Map(receiver.lines().map((line) => [line.id, line])).values()];
  while (distinct().length < count) await delay(50);
  for (const [documentId, keys] of written) {
    const own = distinct().filter((line) => line.documentId === documentId);
    expect(own.map(({ key }) => key)).toEqual(keys);
    const last = receiver.lines().filter((line) => line.documentId === documentId);
    expect(outOfOrder(last)).toEqual([]);
  }
}

/** Returns the lines that arrived after a later one and do not repeat an earlier delivery. */
function outOfOrder(lines: readonly Line[]): readonly Line[] {
  const seen = new Set<string>();
  let most = -1n;
  return lines.filter(({ id }) => {
    const position = BigInt(id.split('_')[2] ?? 0);
    const isLate = position < most && !seen.has(id);
    seen.add(id);
    if (position > most) most = position;
    return isLate;
  });
}

/** Starts a receiver in another process. It writes the webhooks that it accepts to a file. */
export async function startReceiverProcess() {
  const folder = createDataDirectory();
  const port = await freePort();
  const file = join(folder, 'received.jsonl');
  const program = join(import.meta.dirname, 'webhook-receiver-process.ts');
  let child: ChildProcess | undefined;
  const start = async () => {
    // A killed receiver has the port until it has ended.
    if (child?.exitCode === null && child.signalCode === null) await once(child, 'exit');
    child = spawn(process.execPath, [program, String(port), file], { stdio: ['ignore', 'pipe', 'inherit'] });
    if (child.stdout !== null) await once(child.stdout, 'data');
  };
  await start();
  onTestFinished(() => void child?.kill('SIGKILL'));
  return {
    url: `http://127.0.0.1:${port}/`,
    start,
    kill: () => child?.kill('SIGKILL'),
    lines: (): readonly Line[] =>
      !existsSync(file)
        ? []
        : readFileSync(file, 'utf8')
            .split('\n')
            .flatMap((line) => (line.endsWith('}') ? (JSON.parse(line) as Line) : [])),
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
