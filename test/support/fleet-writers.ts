import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { countAnswers } from './count-answers.ts';
import type { Member } from './fleet.ts';

/** Writers that repeat a write until it is answered, as a client with an Idempotency-Key may. */
export type FleetWriters = {
  /** Edits that were sent, and may therefore be in the log, and whether they were answered. */
  readonly sent: readonly SentEdit[];
  /** Failed answers of processes that were up. There must be none. */
  readonly refused: readonly string[];
  /** Returns the milliseconds of the write that waited longest. */
  longest(): number;
  /**
   * Resolves when `count` more writes were answered. Rejects when one is refused, since its writer may not continue.
   */
  answered(count: number): Promise<void>;
  stop(): Promise<void>;
};

/** A write that stores `number` in the document `key`. The first one creates the document. */
export type SentEdit = { readonly key: string; readonly number: number; isAnswered: boolean };

export type WritersOptions = {
  readonly members: readonly Member[];
  readonly perMember: number;
  /** Part of every key, to distinguish them from the keys of other writers. */
  readonly name: string;
};

/** Milliseconds after which a write without an answer is a failure. It is longer than every timeout of a server. */
const ANSWER_MS = 90_000;
/** Pause of a writer after an answer. Without it the writers alone would keep two cores busy. */
const PAUSE_MS = 50;

/** Starts writers. Each writes through one member, and through another one while its own is down. */
export function startFleetWriters({ members, perMember, name }: WritersOptions): FleetWriters {
  const sent: SentEdit[] = [];
  const refused: string[] = [];
  const wasRefused = Promise.withResolvers<never>();
  wasRefused.promise.catch(() => {});
  let longest = 0;
  const answers = countAnswers();
  let stopped = false;
  const write = async (home: Member, edit: SentEdit, documentId: string | undefined): Promise<string> => {
    const id = randomUUID();
    const started = performance.now();
    for (;;) {
      const member = home.isUp() ? home : (members.find((each) => each.isUp()) ?? home);
      const server = member.server();
      const answer = await sendEdit(server.url, id, edit, documentId);
      if (answer.kind === 'stored') {
        longest = Math.max(longest, performance.now() - started);
        return answer.documentId;
      }
      // Only a process that stops or was killed may refuse a write.
      if (answer.kind === 'refused' && member.isUp() && member.server() === server) {
        refused.push(`${edit.key} ${edit.number}: ${answer.text}`);
        wasRefused.reject(new Error(`refused: ${refused.join('\n')}`));
      }
      await delay(PAUSE_MS);
    }
  };
  const run = async (home: Member, writer: number): Promise<void> => {
    for (let document = 0; !stopped; document++) {
      let documentId: string | undefined;
      for (let number = 1; number <= 3 && !stopped; number++) {
        const edit = { key: `${name}-${home.name}-${writer}-${document}`, number, isAnswered: false };
        sent.push(edit);
        documentId = await write(home, edit, documentId);
        edit.isAnswered = true;
        answers.add();
        await delay(PAUSE_MS);
      }
    }
  };
  const running = Promise.all(
    members.flatMap((home) => Array.from({ length: perMember }, (_unused, writer) => run(home, writer))),
  );
  return {
    sent,
    refused,
    longest: () => longest,
    answered: (more) => Promise.race([running.then(() => {}), wasRefused.promise, answers.more(more)]),
    async stop() {
      stopped = true;
      await running;
    },
  };
}

type Answer =
  | { readonly kind: 'stored'; readonly documentId: string }
  | { readonly kind: 'refused'; readonly text: string }
  | { readonly kind: 'broken' };

async function sendEdit(
  url: string,
  id: string,
  { key, number }: SentEdit,
  documentId: string | undefined,
): Promise<Answer> {
  const path = `/api/restaurants${documentId === undefined ? '' : `/${documentId}`}`;
  try {
    const answer = await fetch(url + path, {
      method: documentId === undefined ? 'POST' : 'PUT',
      headers: { 'content-type': 'application/json', 'idempotency-key': id },
      body: JSON.stringify({ data: { key, name: `${key} ${number}`, stars: number } }),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const text = await answer.text();
    if (!answer.ok) return { kind: 'refused', text: `${answer.status} ${text}` };
    return {
      kind: 'stored',
      documentId: (JSON.parse(text) as { data: { documentId: string } }).data.documentId,
    };
  } catch (error) {
    if ((error as Error).name === 'TimeoutError')
      return { kind: 'refused', text: `no answer within ${ANSWER_MS} ms` };
    // The connection broke, so the outcome of this write is unknown.
    return { kind: 'broken' };
  }
}
