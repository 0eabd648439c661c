import { setTimeout as delay } from 'node:timers/promises';
import type { Member, TestFleet } from './fleet.ts';
import { lockLog } from './log-lock.ts';

/**
 * Stops a process with SIGSTOP, and returns when: milliseconds of `performance.now()`. A process that is stopped inside a commit
 * to an SQLite log locks the log until it continues (docs/sizing.md), so it is stopped at another moment.
 */
export async function pauseMember(
  { eventStore }: Pick<TestFleet, 'eventStore'>,
  member: Member,
): Promise<number> {
  for (;;) {
    const stopped = performance.now();
    member.server().signal('SIGSTOP');
    if (!eventStore.startsWith('sqlite:')) return stopped;
    const release = lockLog(eventStore);
    release?.();
    if (release !== undefined) return stopped;
    member.server().signal('SIGCONT');
    await delay(10);
  }
}
