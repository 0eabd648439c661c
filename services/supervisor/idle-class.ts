import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { processStat } from './process-stat.ts';

/** `leave` resolves when the process runs like others again. Rejects if it cannot be made to. */
export type IdleClass = { leave(): Promise<void> };

/** Time between two looks at a process in this class, and the number of looks after which its times are counted from zero again. */
const LOOK_MS = 500;
const COUNTED_LOOKS = 60;
/**
 * A process leaves the class when it has waited for a core for WAITED_MS in all. It must also have waited WAITED_FOR_EACH_RUN times as long
 * as it ran.
 */
const WAITED_MS = 2_000;
const WAITED_FOR_EACH_RUN = 4;

/** Options of `chrt` for the classes from which a process can enter the class "idle", by their numbers in sched.h. */
const ENTERED_FROM: ReadonlyMap<number | undefined, string> = new Map([
  [0, '--other'],
  [3, '--batch'],
]);

/**
 * Keeps a process in the class until its own input ends. That also happens if the supervisor is killed: a process that hardly runs would
 * notice late that nobody needs it. Signals are meant for the supervisor. `chrt` is of util-linux. It fails at a thread that ends meanwhile.
 */
const KEEP = `
  trap '' INT TERM HUP
  pid=$1 class=$2
  leave() { chrt "$class" --all-tasks --pid 0 "$pid"; }
  chrt --idle 0 chrt "$class" 0 true || exit 0
  chrt --idle --all-tasks --pid 0 "$pid"
  read -r end
  leave || leave || leave`;

/**
 * Puts a process into Linux's scheduling class "idle" (SCHED_IDLE in sched(7)): it runs on cores that have nothing else to do.
 *
 * Low priority is not enough. Linux takes a core with a process of low priority as busy. On two cores, a server and its clients then share
 * the other core, and answer half as many reads. Linux takes a core with a process of this class as free. A process that hardly runs leaves
 * the class for good.
 *
 * Does nothing where `chrt` is missing, or where the process could not leave the class: that takes CAP_SYS_NICE or an RLIMIT_NICE of 20.
 * Does nothing either if the supervisor itself runs in the class "idle", or in a class for real time.
 */
export function enterIdleClass(pid: number): IdleClass {
  const own = ENTERED_FROM.get(processStat('self')?.schedulingClass);
  if (own === undefined) return { leave: async () => {} };
  const keeper = startKeeper(pid, own);
  let since = coreTimeOf(pid);
  let looks = 0;
  const looking = setInterval(() => {
    const now = coreTimeOf(pid);
    // Never rejects: the process has ended if its class cannot be changed.
    if (since === undefined || now === undefined || isStarving(since, now)) return void leave();
    if (++looks % COUNTED_LOOKS === 0) since = now;
  }, LOOK_MS).unref();

  function leave(): Promise<void> {
    clearInterval(looking);
    keeper.end();
    return keeper.ended;
  }

  return { leave };
}

/** `end` returns the process to the class `own`. `ended` rejects if that could not be done. */
function startKeeper(pid: number, own: string): { end(): void; readonly ended: Promise<void> } {
  let shell: ChildProcess | undefined;
  const ended = new Promise<void>((resolve, reject) => {
    shell = spawn('sh', ['-c', KEEP, 'sh', String(pid), own], { stdio: ['pipe', 'ignore', 'ignore'] });
    // There is no shell: the process has not entered.
    shell.once('error', () => resolve());
    shell.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`process ${pid} has ended`))));
  });
  // The caller of `leave` gets the error.
  ended.catch(() => {});
  return { end: () => void shell?.stdin?.end(), ended };
}

type CoreTime = { readonly ranMs: number; readonly waitedMs: number };

function isStarving(since: CoreTime, now: CoreTime): boolean {
  const waitedMs = now.waitedMs - since.waitedMs;
  return waitedMs >= WAITED_MS && waitedMs >= WAITED_FOR_EACH_RUN * (now.ranMs - since.ranMs);
}

/** Milliseconds that the main thread of a process has run, and has waited for a core. Undefined if the process has ended. */
function coreTimeOf(pid: number): CoreTime | undefined {
  // A process that has ended still has its times until its parent has waited for it.
  if (processStat(pid) === undefined) return undefined;
  try {
    const [ran, waited] = readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ');
    return { ranMs: Number(ran) / 1e6, waitedMs: Number(waited) / 1e6 };
  } catch {
    return undefined;
  }
}
