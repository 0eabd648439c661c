import { setTimeout as delay } from 'node:timers/promises';
import type { Member, TestFleet } from './fleet.ts';
import { lockLog } from './log-lock.ts';

/**
 * Stops a process with SIGSTOP, and returns the time of the stop in milliseconds of `performance.now()`. It does not stop
 * a process inside a commit to an SQLite log, which would lock the log until the process continues (docs/sizing.md).
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
