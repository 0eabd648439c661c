import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

/** `leave` resolves when the process runs like others again. Rejects if it cannot be made to. */
export type IdleClass = { leave(): Promise<void> };

/** Time between two looks at a process in this class, and the number of looks after which its times are counted from zero again. */
const LOOK_MS = 500;
const COUNTED_LOOKS = 60;
/** A process leaves the class if it has waited for a core this long, and this many times as long as it ran. */
const WAITED_MS = 2_000;
const WAITED_FOR_EACH_RUN = 4;

const execute = promisify(execFile);

/**
 * Puts a process into Linux's scheduling class "idle" (SCHED_IDLE in sched(7)): it runs on cores that have nothing else to do.
 *
 * Low priority is not enough. A core that runs a process of low priority is busy for Linux, so a server and its clients share the other
 * one: reads halve on two cores. A core that runs a process of this class is free for others. A process that hardly runs leaves it for good.
 *
 * Does nothing where `chrt` is missing, or where the process could not leave the class: that takes CAP_SYS_NICE or an RLIMIT_NICE of 20.
 */
export function enterIdleClass(pid: number): IdleClass {
  const entered = enter(pid);
  let left: Promise<void> | undefined;
  let since = coreTimeOf(pid);
  let looks = 0;
  const looking = setInterval(() => {
    const now = coreTimeOf(pid);
    if (now === undefined || since === undefined) return clearInterval(looking);
    const [ranMs, waitedMs] = [now.ranMs - since.ranMs, now.waitedMs - since.waitedMs];
    // The caller of `leave` gets the error.
    if (waitedMs >= WAITED_MS && waitedMs >= WAITED_FOR_EACH_RUN * ranMs) leave().catch(() => {});
    if (++looks % COUNTED_LOOKS === 0) since = now;
  }, LOOK_MS).unref();

  function leave(): Promise<void> {
    clearInterval(looking);
    left ??= entered.then(async (isIn) => {
      if (isIn) await chrt(['--other', '--all-tasks', '--pid', '0', String(pid)]);
    });
    return left;
  }

  return { leave };
}

/** Returns whether the process may be in the class. */
async function enter(pid: number): Promise<boolean> {
  if (!(await isReversible())) return false;
  // A process that has ended.
  await chrt(['--idle', '--all-tasks', '--pid', '0', String(pid)]).catch(() => {});
  return true;
}

/** Runs the command that reads and sets scheduling classes, of util-linux. */
async function chrt(args: readonly string[]): Promise<void> {
  await execute('chrt', args);
}

let reversible: Promise<boolean> | undefined;

/** Returns whether a process that this one starts can enter the class and leave it again. Tries it once. */
function isReversible(): Promise<boolean> {
  reversible ??= chrt(['--idle', '0', 'chrt', '--other', '0', 'true']).then(
    () => true,
    () => false,
  );
  return reversible;
}

/** Milliseconds that the main thread of a process has run, and has waited for a core. Undefined if the process has ended. */
function coreTimeOf(pid: number): { readonly ranMs: number; readonly waitedMs: number } | undefined {
  try {
    const [ran, waited] = readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ');
    return { ranMs: Number(ran) / 1e6, waitedMs: Number(waited) / 1e6 };
  } catch {
    return undefined;
  }
}
