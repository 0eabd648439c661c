import { setTimeout as delay } from 'node:timers/promises';
import type { Member } from '../support/fleet.ts';
import { ask, READ_COUNTRIES, READ_TAGS } from './observe.ts';

/** Content type of an entry whose name is a counter. */
export type Counted = 'tags' | 'countries';

const READS: Readonly<Record<Counted, string>> = { tags: READ_TAGS, countries: READ_COUNTRIES };
const TYPES = Object.keys(READS) as Counted[];
/** A write waits ten seconds for a leader and ten for the index. */
const WRITE_MS = 30_000;

/** `shown`: the last value whose write was answered with 200. `stored`: with 200 or 202. `sent`: the last value that was sent. */
type Counter = { documentId: string; shown: number; stored: number; sent: number };

/** A wrong answer, and the time of the question in milliseconds of `performance.now()`. */
export type WrongAnswer = { readonly at: number; readonly what: string };

/** The writes of a suite, and checks of what reads may show. */
export type Ledger = {
  /** Raises the counter of a type through a process. Resolves to the status; 0: the connection broke. */
  write(type: Counted, through: Member): Promise<number>;
  /** Returns the values that every stored write allows a read to show after all faults, or why the answer is wrong. */
  isCurrent(type: Counted, text: string): boolean;
  /** Reads both types of a process until `stop`, which returns what was wrong. */
  watch(member: Member, mayEnd: boolean): { stop(): Promise<readonly WrongAnswer[]> };
};

/** Creates one entry of each type through a process, with three entries that never change next to it. */
export async function createLedger(through: Member): Promise<Ledger> {
  const counters = new Map<Counted, Counter>();
  for (const type of TYPES) {
    for (const key of ['a', 'b', 'c']) await create(through, type, key);
    const documentId = await create(through, type, 'counted');
    counters.set(type, { documentId, shown: 0, stored: 0, sent: 0 });
  }
  const of = (type: Counted) => counters.get(type) as Counter;
  return {
    async write(type, member) {
      const counter = of(type);
      const value = ++counter.sent;
      const path = `/api/${type}/${counter.documentId}`;
      const status = await send(member, 'PUT', path, { name: String(value) }).then(
        (answer) => answer.status,
        () => 0,
      );
      if (status === 200) counter.shown = Math.max(counter.shown, value);
      if (status === 200 || status === 202) counter.stored = Math.max(counter.stored, value);
      return status;
    },
    isCurrent(type, text) {
      const { stored, sent } = of(type);
      return problemOf(text, stored, sent) === undefined;
    },
    watch(member, mayEnd) {
      const wrong: WrongAnswer[] = [];
      let isStopped = false;
      const look = async (type: Counted) => {
        const at = performance.now();
        const least = of(type).shown;
        const { outcome, text } = await ask(member, READS[type], WRITE_MS);
        const isRefused = outcome === 503 || outcome === 'late' || (outcome === 'down' && mayEnd);
        const problem =
          outcome === 200 ? problemOf(text, least, of(type).sent) : isRefused ? undefined : 'wrong';
        if (problem !== undefined)
          wrong.push({ at, what: `${member.name}: ${type}: ${outcome} ${problem} ${text.slice(0, 300)}` });
      };
      const run = async () => {
        while (!isStopped) {
          for (const type of TYPES) await look(type);
          await delay(200);
        }
      };
      const running = run();
      return {
        async stop() {
          isStopped = true;
          await running;
          return wrong;
        },
      };
    },
  };
}

/** Returns why an answer is wrong, if a read has to show a value from `least` to `most`. */
function problemOf(text: string, least: number, most: number): string | undefined {
  const { data } = JSON.parse(text) as { readonly data: readonly { key: string; name: string }[] };
  const keys = data.map(({ key }) => key).join();
  if (keys !== 'a,b,c,counted') return `has the entries ${keys}`;
  const value = Number(data[3]?.name);
  return value >= least && value <= most ? undefined : `shows ${value}, not ${least} to ${most}`;
}

async function create(through: Member, type: Counted, key: string): Promise<string> {
  const answer = await send(through, 'POST', `/api/${type}`, { key, name: '0' });
  const text = await answer.text();
  if (answer.status !== 201 && answer.status !== 202)
    throw new Error(`POST ${type}: ${answer.status} ${text}`);
  return (JSON.parse(text) as { data: { documentId: string } }).data.documentId;
}

function send(member: Member, method: string, path: string, data: object): Promise<Response> {
  return fetch(member.server().url + path, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data }),
    signal: AbortSignal.timeout(WRITE_MS),
  });
}
