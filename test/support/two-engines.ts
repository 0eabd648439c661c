import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openEventStore } from '../../services/stores/open-event-store.ts';
import { upcast } from '../../shared/events/upcasters.ts';
import { elasticsearchUrl } from './elasticsearch.ts';
import { removeIndices } from './remove-indices.ts';
import { runVarve } from './run-varve.ts';
import { createDataDirectory, type RunningServer, startServer } from './server.ts';

/** A request to both servers. */
export type Asked = {
  readonly method: string;
  readonly path: string;
  readonly body?: string | undefined;
  readonly key?: string | undefined;
};
export type Answer = { readonly status: number; readonly body: unknown };
export type Answers = { readonly embedded: Answer; readonly outside: Answer };

/** Two servers with the same content types and the same content at the start: one with the embedded index, one on Elasticsearch. */
export type TwoEngines = {
  readonly embedded: RunningServer;
  readonly outside: RunningServer;
  /** Sends a request to both. Times of rows and positions are omitted from the answers. */
  ask(asked: Asked): Promise<Answers>;
  /** Asks until both answer alike. Returns the last answers after `patienceMs`. */
  askUntilEqual(asked: Asked, patienceMs: number): Promise<Answers>;
  /** Returns the document events of both logs, without times and the hashes of passwords. Stops both servers. */
  events(): Promise<readonly (readonly string[])[]>;
  dispose(): Promise<void>;
};

export type TwoEnginesOptions = {
  readonly contentTypes: string;
  readonly space: string;
  /** Lines of `varve import`, which both servers have. */
  readonly lines: readonly object[];
  readonly arguments: readonly string[];
};

export async function startTwoEngines(options: TwoEnginesOptions): Promise<TwoEngines> {
  const { contentTypes, space } = options;
  const folders = [createDataDirectory(), createDataDirectory()] as const;
  await importLines(options, folders[0]);
  cpSync(folders[0], folders[1], { recursive: true });
  const url = await elasticsearchUrl();
  const common = [...options.arguments, '--space', space];
  const start = (data: string, args: readonly string[]) =>
    startServer({ data, contentTypes, arguments: args });
  const [embedded, outside] = await Promise.all([
    start(folders[0], common),
    start(folders[1], [...common, '--read-index', url]),
  ]);
  const ask = async (asked: Asked): Promise<Answers> => {
    const [first, second] = await Promise.all([sendAsked(embedded, asked), sendAsked(outside, asked)]);
    return { embedded: first, outside: second };
  };
  return {
    embedded,
    outside,
    ask,
    async askUntilEqual(asked, patienceMs) {
      for (const until = performance.now() + patienceMs; ; await delay(200)) {
        const answers = await ask(asked);
        if (areEqual(answers) || performance.now() > until) return answers;
      }
    },
    async events() {
      await Promise.all([embedded.stop(), outside.stop()]);
      return Promise.all(folders.map((folder) => documentEvents(folder, space)));
    },
    async dispose() {
      await Promise.all([embedded.dispose(), outside.dispose()]);
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
      await removeIndices(url, space);
    },
  };
}

export function areEqual({ embedded, outside }: Answers): boolean {
  return embedded.status === outside.status && JSON.stringify(embedded.body) === JSON.stringify(outside.body);
}

/** Imports lines into a data directory. */
export async function importLines(
  { contentTypes, space, lines }: Omit<TwoEnginesOptions, 'arguments'>,
  data: string,
): Promise<void> {
  const file = join(data, 'lines.jsonl');
  writeFileSync(file, lines.map((line) => JSON.stringify(line)).join('\n'));
  const args = ['import', file, '--content-types', contentTypes, '--data', data, '--space', space];
  const { code, stderr } = await runVarve(args);
  if (code !== 0) throw new Error(`varve import ended with ${code}: ${stderr}`);
  rmSync(file);
}

/** Sends a request. Times of rows are omitted from the answer. */
export async function sendAsked({ url }: RunningServer, { method, path, body, key }: Asked): Promise<Answer> {
  const answer = await fetch(url + path, {
    method,
    headers: { 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) },
    ...(body !== undefined && { body }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? undefined : withoutTimes(JSON.parse(text)) };
}

const OMITTED = new Set(['createdAt', 'updatedAt', 'publishedAt']);

function withoutTimes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTimes);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(
    ([name, each]) => !(OMITTED.has(name) && typeof each === 'string'),
  );
  return Object.fromEntries(entries.map(([name, each]) => [name, withoutTimes(each)]));
}

async function documentEvents(folder: string, space: string): Promise<readonly string[]> {
  const log = await openEventStore(`sqlite:${join(folder, 'events.db')}`, { space, decode: upcast });
  try {
    const found: string[] = [];
    for await (const events of log.readAll(0n))
      for (const { type, data } of events)
        if (type.startsWith('entry-')) found.push(`${type} ${JSON.stringify(withoutHashes(data))}`);
    return found;
  } finally {
    await log.close();
  }
}

function withoutHashes(data: unknown): unknown {
  return JSON.parse(JSON.stringify(data), (name, value: unknown) =>
    name === 'pin' || OMITTED.has(name) ? undefined : value,
  );
}
