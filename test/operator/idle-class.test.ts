import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { handOver } from '../../services/supervisor/hand-over.ts';
import { enterIdleClass } from '../../services/supervisor/idle-class.ts';
import { processStat } from '../../services/supervisor/process-stat.ts';
import { createMemoryWorker } from '../support/memory-worker.ts';
import { argumentsOf, childrenOf } from '../support/processes.ts';
import { create, nextWorker, replaced, workers } from '../support/replaced-workers.ts';
import { spawnVarve, startServer } from '../support/server.ts';
import { type SkipOptions, takesMinutes } from '../support/takes-minutes.ts';

/** Scheduling classes of Linux, by their numbers in sched.h. */
const [OTHER, BATCH, IDLE] = [0, 3, 5];

/** The processes that build and load the next generation of a server only use idle cores. */
const IF_ALLOWED: SkipOptions = canChangeClass()
  ? {}
  : { skip: true, meta: { skipReason: 'no chrt, or no right to leave the class "idle" (CAP_SYS_NICE)' } };

function canChangeClass(): boolean {
  try {
    execFileSync('chrt', ['--idle', '0', 'chrt', '--other', '0', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Returns the classes of a process's threads, each once. */
function classesOf(pid: number): readonly number[] {
  const classes = readdirSync(`/proc/${pid}/task`).map((id) => {
    const stat = readFileSync(`/proc/${pid}/task/${id}/stat`, 'latin1');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[38]);
  });
  return [...new Set(classes)].sort();
}

function start(args: readonly string[], program = process.execPath): ChildProcess {
  const child = spawn(program, args, { stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** Starts a process that always uses the first core. */
function startBusy(): ChildProcess {
  return start(['--cpu-list', '0', process.execPath, '-e', 'for (;;);'], 'taskset');
}

const IMPORT = `import { enterIdleClass } from '${resolve('services/supervisor/idle-class.ts')}';`;
const idOf = ({ pid = 0 }: ChildProcess) => pid;
const LONG = { ...takesMinutes('a process in the class "idle" for more than 30 s'), timeout: 130_000 };
const patiently = { timeout: 60_000, interval: 50 };

describe('the class "idle"', IF_ALLOWED, () => {
  it('has every thread of a process, and none after it has left', async () => {
    const pid = idOf(startBusy());
    const idleClass = enterIdleClass(pid);
    await vi.waitFor(() => expect(classesOf(pid)).toEqual([IDLE]), patiently);
    await Promise.all([idleClass.leave(), idleClass.leave()]);
    expect(classesOf(pid)).toEqual([OTHER]);
  });

  it('is left by a process that hardly runs, and not by one that has nothing to do', async () => {
    const [starving, resting] = [idOf(startBusy()), idOf(start(['300'], 'sleep'))];
    // While a program starts it has something to do. On a busy host it starves in this class.
    await vi.waitFor(() => expect(processStat(resting)?.state).toBe('S'), patiently);
    for (const pid of [starving, resting]) enterIdleClass(pid);
    await vi.waitFor(() => expect([starving, resting].map(classesOf)).toEqual([[IDLE], [IDLE]]), patiently);
    startBusy();
    await vi.waitFor(() => expect(classesOf(starving)).toEqual([OTHER]), patiently);
    expect(classesOf(resting)).toEqual([IDLE]);
  }, 130_000);

  it('is left soon by a process that has run for long and then hardly runs', LONG, async () => {
    const pid = idOf(startBusy());
    enterIdleClass(pid);
    // If the time since the beginning counted, the wait would be four times as long.
    await delay(40_000);
    startBusy();
    await vi.waitFor(() => expect(classesOf(pid)).toEqual([OTHER]), { timeout: 60_000, interval: 50 });
  });

  it('is left if the supervisor is killed', async () => {
    const pid = idOf(startBusy());
    const supervisor = start(['--input-type=module', '--eval', `${IMPORT} enterIdleClass(${pid});`]);
    await vi.waitFor(() => expect(classesOf(pid)).toEqual([IDLE]), patiently);
    supervisor.kill('SIGKILL');
    await once(supervisor, 'exit');
    await vi.waitFor(() => expect(classesOf(pid)).toEqual([OTHER]), patiently);
  });

  it('is left for the class that the supervisor has', async () => {
    const pid = idOf(startBusy());
    const script = `${IMPORT} const { leave } = enterIdleClass(${pid}); process.stdin.once('data', leave);`;
    const supervisor = spawn('chrt', [
      '--batch',
      '0',
      process.execPath,
      '--input-type=module',
      '--eval',
      script,
    ]);
    onTestFinished(() => void supervisor.kill('SIGKILL'));
    await vi.waitFor(() => expect(classesOf(pid)).toEqual([IDLE]), patiently);
    supervisor.stdin.write('leave');
    await vi.waitFor(() => expect(classesOf(pid)).toEqual([BATCH]), patiently);
  });

  it('keeps no process of its own for a process that nobody has waited for', async () => {
    // The shell becomes a program that does not wait for its child.
    const parent = start(['-c', `${process.execPath} -e '' & exec sleep 60`], 'sh');
    await vi.waitFor(() => expect(childrenOf(idOf(parent))).toHaveLength(1), patiently);
    const [child = 0] = childrenOf(idOf(parent));
    await vi.waitFor(() => expect(readFileSync(`/proc/${child}/stat`, 'latin1')).toMatch(/\) Z /), patiently);
    enterIdleClass(child);
    const keepers = () => childrenOf(process.pid).filter((pid) => argumentsOf(pid).includes(String(child)));
    await vi.waitFor(() => expect(keepers()).toHaveLength(1), patiently);
    await vi.waitFor(() => expect(keepers()).toEqual([]), patiently);
  });

  it('cannot be left by a process that has ended, and a hand-over to it is refused', async () => {
    const child = startBusy();
    const [from, next] = [createMemoryWorker(), { ...createMemoryWorker(), pid: idOf(child) }];
    const end = handOver(from, next, 1_000, async () => true);
    child.kill('SIGKILL');
    await once(child, 'exit');
    next.says('ready');
    expect([await end, next.isKilled(), from.heard]).toEqual(['refused', true, []]);
  });

  it('is being left when the serving worker ends: the hand-over is refused, since another worker will serve', async () => {
    const child = startBusy();
    const [from, next] = [createMemoryWorker(), { ...createMemoryWorker(), pid: idOf(child) }];
    const end = handOver(from, next, 1_000, async () => true);
    await vi.waitFor(() => expect(classesOf(idOf(child))).toEqual([IDLE]), patiently);
    next.says('ready');
    from.ends();
    expect([await end, next.isKilled(), from.heard]).toEqual(['refused', true, []]);
  });

  it('has the process that makes a generation, and the next worker until it serves', async () => {
    const server = await startServer();
    onTestFinished(() => server.dispose());
    expect(await create(server.url, 'a')).toBe(201);
    const [first = 0] = workers(server);
    const slow = spawnVarve(['rebuild', '--graph', '--max-rate', '5', '--data', server.data]);
    onTestFinished(() => void slow.child.kill('SIGKILL'));
    await vi.waitFor(() => {
      const [builder = 0] = childrenOf(first);
      expect(classesOf(builder)).toEqual([IDLE]);
    }, patiently);
    expect(classesOf(first)).toEqual([OTHER]);
    const next = await nextWorker(server);
    await vi.waitFor(() => expect(classesOf(next)).toEqual([IDLE]), { ...patiently, interval: 2 });
    await slow.exited;
    await replaced(server, first);
    expect([workers(server), classesOf(next)]).toEqual([[next], [OTHER]]);
  }, 130_000);
});

const WITHOUT_RIGHT = canChangeClass() ? ['setpriv', '--bounding-set=-sys_nice'] : [];
const NO_LINUX: SkipOptions =
  process.platform === 'linux' ? {} : { skip: true, meta: { skipReason: 'scheduling classes of Linux' } };

it.for([
  ['without the right to leave it', [...WITHOUT_RIGHT, process.execPath], process.env['PATH']],
  ['without the command chrt', [process.execPath], '/nonexistent'],
] as const)('the class "idle" is not entered %s', NO_LINUX, async ([, [program = '', ...args], path]) => {
  const script = `
    import { readFileSync } from 'node:fs';
    ${IMPORT}
    await enterIdleClass(process.pid).leave();
    console.log(readFileSync('/proc/self/stat', 'latin1').split(') ')[1].split(' ')[38]);`;
  const { stdout } = await promisify(execFile)(program, [...args, '--input-type=module', '--eval', script], {
    env: { ...process.env, PATH: path },
  });
  expect(Number(stdout)).toBe(OTHER);
});
