import { setTimeout as delay } from 'node:timers/promises';
import type { Member, TestFleet } from './fleet.ts';
import { lockLog } from './log-lock.ts';
import { areThreadsStopped } from './processes.ts';

const STOP_MS = 10_000;

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
    await untilStopped(member);
    if (!eventStore.startsWith('sqlite:')) return stopped;
    const release = lockLog(eventStore);
    release?.();
    if (release !== undefined) return stopped;
    member.server().signal('SIGCONT');
    await delay(10);
  }
}

/** A thread that is in a system call stops when the call returns. Until then it may still take the lock. */
async function untilStopped(member: Member): Promise<void> {
  const { supervisor, worker } = member.server();
  const pids = [supervisor, ...[worker()].filter((pid) => pid !== undefined)];
  for (const until = performance.now() + STOP_MS; !pids.every(areThreadsStopped); await delay(1))
    if (performance.now() > until) throw new Error(`${member.name} was not stopped within ${STOP_MS} ms`);
}
