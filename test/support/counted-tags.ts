import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Member } from './fleet.ts';

/** Tags whose names are counters: one writer raises them, and readers check each answer. */
export type CountedTags = {
  /** Answers with a value that was overwritten before the request, or that nobody wrote. There must be none. */
  readonly wrong: readonly string[];
  /** Answers of a process that was neither down nor paused, other than 200 and 503. There must be none. */
  readonly failures: readonly string[];
  /** Number of answers that were checked, of 503 answers, and of answered writes. */
  counts(): { readonly checked: number; readonly unavailable: number; readonly written: number };
  /** Stops, and resolves to the last value of each tag. */
  stop(): Promise<ReadonlyMap<string, number>>;
};

export type CountedTagsOptions = {
  readonly writeThrough: readonly Member[];
  readonly readFrom: readonly Member[];
  /** Returns whether a test has paused or killed a member. */
  readonly isDisturbed: (member: Member) => boolean;
  /** Number of writers, each with tags of its own. Default: 1. */
  readonly writers?: number;
};

const TAGS = 20;
const WRITE_EVERY_MS = 60;
const READ_EVERY_MS = 100;
const REQUEST_MS = 30_000;
/** A write that no process acknowledges for so long is a failure. */
const WRITE_MS = 300_000;

/** `acknowledged`: the last value whose write was answered. `sent`: the last value that was sent. */
type Counter = { readonly documentId: string; acknowledged: number; sent: number };

/** Creates the tags through the first member, then writes and reads until `stop`. */
export async function startCountedTags(options: CountedTagsOptions): Promise<CountedTags> {
  const { writeThrough, readFrom, isDisturbed } = options;
  const counters = new Map<string, Counter>();
  const [wrong, failures]: [string[], string[]] = [[], []];
  let [checked, unavailable, written] = [0, 0, 0];
  let isStopped = false;
  for (let n = 0; n < TAGS; n++) {
    const key = `counted-${String(n).padStart(2, '0')}`;
    const { documentId } = await write(writeThrough, 'POST', '/api/tags', { key, name: '0' }, () => false);
    counters.set(key, { documentId, acknowledged: 0, sent: 0 });
  }
  const writing = async (keys: readonly string[]) => {
    while (!isStopped) {
      const key = keys[Math.floor(Math.random() * keys.length)] ?? '';
      const counter = counters.get(key) as Counter;
      const value = counter.sent + 1;
      counter.sent = value;
      const path = `/api/tags/${counter.documentId}`;
      await write(writeThrough, 'PUT', path, { name: String(value) }, isDisturbed);
      counter.acknowledged = value;
      written++;
      await delay(WRITE_EVERY_MS);
    }
  };
  const check = (from: Member, least: ReadonlyMap<string, number>, text: string) => {
    const { data } = JSON.parse(text) as { data: { key: string; name: string }[] };
    const found = new Map(data.map(({ key, name }) => [key, Number(name)]));
    checked++;
    for (const [key, { sent }] of counters) {
      const [value, atLeast] = [found.get(key), least.get(key) ?? 0];
      if (value === undefined || value < atLeast || value > sent)
        wrong.push(`${from.name}: ${key} is ${value}, written ${atLeast} to ${sent}`);
    }
  };
  const reading = async (from: Member) => {
    while (!isStopped) {
      const server = from.server();
      const least = new Map([...counters].map(([key, { acknowledged }]) => [key, acknowledged]));
      try {
        const path = '/api/tags?fields=key,name&pagination[pageSize]=100&filters[key][$startsWith]=counted';
        const answer = await fetch(server.url + path, { signal: AbortSignal.timeout(REQUEST_MS) });
        const text = await answer.text();
        if (answer.status === 200) check(from, least, text);
        else if (answer.status === 503) unavailable++;
        else failures.push(`${from.name}: ${answer.status} ${text.slice(0, 200)}`);
      } catch (error) {
        if (!isDisturbed(from) && from.server() === server && from.isUp())
          failures.push(`${from.name}: ${(error as Error).message} ${String((error as Error).cause ?? '')}`);
      }
      await delay(READ_EVERY_MS);
    }
  };
  const writers = Array.from({ length: options.writers ?? 1 }, (_unused, at) =>
    writing([...counters.keys()].filter((_key, n) => n % (options.writers ?? 1) === at)),
  );
  const running = Promise.all([...writers, ...readFrom.map(reading)]);
  // The caller sees a failure at \`stop\`.
  running.catch(() => {});
  return {
    wrong,
    failures,
    counts: () => ({ checked, unavailable, written }),
    async stop() {
      isStopped = true;
      await running;
      return new Map([...counters].map(([key, { sent }]) => [key, sent]));
    },
  };
}

/** Repeats a write through one member after the other until one answers that reads show it. */
async function write(
  members: readonly Member[],
  method: string,
  path: string,
  data: object,
  isDisturbed: (member: Member) => boolean,
): Promise<{ readonly documentId: string }> {
  const key = randomUUID();
  let last = 'no process was up';
  const until = performance.now() + WRITE_MS;
  for (let at = Math.floor(Math.random() * members.length); performance.now() < until; at++) {
    const member = members[at % members.length] as Member;
    if (member.isUp() && !isDisturbed(member)) {
      const answer = await fetch(member.server().url + path, {
        method,
        headers: { 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify({ data }),
        signal: AbortSignal.timeout(REQUEST_MS),
      })
        .then(async (found) => ({ status: found.status, body: await found.json() }))
        .catch((error: Error) => ({ status: 0, body: error.message }));
      if (answer.status === 200 || answer.status === 201)
        return (answer.body as { readonly data: { readonly documentId: string } }).data;
      last = `${member.name}: ${JSON.stringify(answer)}`;
    }
    await delay(20);
  }
  throw new Error(`no process acknowledged ${method} ${path}: ${last}`);
}
