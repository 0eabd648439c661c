import { Agent, request } from 'undici';
import { countAnswers } from './count-answers.ts';
import type { Member } from './fleet.ts';

/** A write of a burst, to notes (see writeNoteTypes). It is sent once, without an Idempotency-Key. */
export type BurstWrite =
  | { readonly kind: 'create'; readonly key: string }
  | { readonly kind: 'change'; readonly key: string; readonly documentId: string }
  | { readonly kind: 'remove'; readonly key: string; readonly documentId: string };

export type BurstOutcome = {
  readonly write: BurstWrite;
  /** Status of the answer. 0: the connection broke, so the outcome is unknown. */
  readonly status: number;
  /** Id of a document that was created. */
  readonly documentId: string | undefined;
  /** The answer's body, or the error of the connection. */
  readonly text: string;
};

export type Burst = {
  /** Resolves when `count` more writes are answered. */
  answered(count: number): Promise<void>;
  readonly outcomes: Promise<readonly BurstOutcome[]>;
};

/** Timeout, longer than any write may wait for a paused leader. */
const ANSWER_MS = 120_000;

/** Sends all writes at once, each to the next member and on a separate connection. */
export function sendBurst(members: readonly Member[], writes: readonly BurstWrite[]): Burst {
  const agent = new Agent({ pipelining: 1, headersTimeout: ANSWER_MS, bodyTimeout: ANSWER_MS });
  const answers = countAnswers();
  const send = async (write: BurstWrite, n: number): Promise<BurstOutcome> => {
    const { url } = (members[n % members.length] as Member).server();
    try {
      const answer = await request(`${url}${pathOf(write)}`, {
        dispatcher: agent,
        method: METHODS[write.kind],
        ...(write.kind === 'remove' ? {} : { headers: JSON_HEADERS, body: bodyOf(write) }),
      });
      const text = await answer.body.text();
      return { write, status: answer.statusCode, documentId: documentIdIn(text), text };
    } catch (error) {
      return { write, status: 0, documentId: undefined, text: String(error) };
    } finally {
      answers.add();
    }
  };
  const outcomes = Promise.all(writes.map(send));
  return {
    answered: answers.more,
    outcomes: outcomes.finally(() => agent.close()),
  };
}

/** Returns the name that a write gives its document. It is unique for each write. */
export function nameOf({ kind, key }: BurstWrite): string {
  return `${key} ${kind}`;
}

const METHODS = { create: 'POST', change: 'PUT', remove: 'DELETE' } as const;
const JSON_HEADERS = { 'content-type': 'application/json' };

function pathOf(write: BurstWrite): string {
  return write.kind === 'create' ? '/api/notes' : `/api/notes/${write.documentId}`;
}

function bodyOf(write: BurstWrite): string {
  return JSON.stringify({ data: { name: nameOf(write) } });
}

function documentIdIn(text: string): string | undefined {
  return /"documentId":"([a-z0-9]+)"/.exec(text)?.[1];
}
