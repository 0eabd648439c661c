import { setTimeout as delay } from 'node:timers/promises';
import type { Member } from './fleet.ts';

/** An answer to a read, with the time in milliseconds at which it was asked. */
export type SampledAnswer = { readonly at: number; readonly status: number; readonly text: string };

const EVERY_MS = 100;

/** Reads a path of a process again and again. A process that does not answer is a failure of the sampling. */
export function startSampling(member: Member, path: string) {
  const answers: SampledAnswer[] = [];
  const ending = new AbortController();
  const run = async () => {
    while (!ending.signal.aborted) {
      const at = performance.now();
      const answer = await fetch(member.server().url + path);
      answers.push({ at, status: answer.status, text: await answer.text() });
      await delay(EVERY_MS, undefined, { signal: ending.signal }).catch(() => {});
    }
  };
  const running = run();
  return {
    /** Returns whether some answer contained this text. */
    saw: (text: RegExp) => answers.some((each) => text.test(each.text)),
    /** Ends the sampling, and returns all answers in their order. */
    async stop(): Promise<readonly SampledAnswer[]> {
      ending.abort();
      await running;
      return answers;
    },
  };
}
