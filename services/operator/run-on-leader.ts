import { randomUUID } from 'node:crypto';
import { LeaderElsewhere } from '../read-side/outside-generation.ts';
import type { LeaderLink } from './operation.ts';

export type LeaderOperation = {
  readonly leader: LeaderLink;
  readonly name: string;
  readonly form: unknown;
  /** Runs the operation in this process. */
  readonly here: () => AsyncIterable<unknown>;
  /** True: only the data directory that began the operation can end it. */
  readonly isOnce: boolean;
};

/** Number of leaders that a command tries. Each of them was lost before it ended the command. */
const MOST_MOVES = 8;

const LEADER_LOST =
  'another process became the leader meanwhile: look with varve status whether the command took effect, and run it again if not';

const WORKERS_LOST =
  'the leader was restarted again and again meanwhile: see its log, and run the command again afterwards';

/**
 * Runs an operation in the leader, which may be this process, and yields its lines. If the leader is lost, the next leader runs the operation
 * from its beginning, unless it may take effect only once.
 */
export async function* runOnLeader(operation: LeaderOperation, signal: AbortSignal): AsyncGenerator<unknown> {
  const { leader, here, isOnce } = operation;
  for (let moves = 1; ; moves++) {
    if ((await leader.locate(signal)) === 'here') {
      try {
        yield* here();
        return;
      } catch (error) {
        if (isOnce || !(error instanceof LeaderElsewhere) || moves >= MOST_MOVES) throw error;
      }
    } else if ((yield* elsewhere(operation, signal)) === 'ended') return;
    if (moves >= MOST_MOVES) throw new Error(LEADER_LOST);
  }
}

async function* elsewhere(
  { leader, name, form, isOnce }: LeaderOperation,
  signal: AbortSignal,
): AsyncGenerator<unknown, 'ended' | 'moved'> {
  const id = randomUUID();
  // The first request only asks which directory would run the operation, so that another one cannot run it a second time.
  const met = await leader.ask({ id, name, form: null, after: 0, directory: null });
  if (met === 'here') return 'moved';
  const { directory } = met;
  let { worker } = met;
  for (let after = 0, workers = 1; ; ) {
    signal.throwIfAborted();
    const answer = await leader.ask({ id, name, form, after, directory });
    if (answer === 'here' || answer.end?.kind === 'moved') {
      if (isOnce) throw new Error(LEADER_LOST);
      return 'moved';
    }
    // Each worker of one directory may begin the operation again, and be lost.
    if (answer.worker !== worker && ++workers > MOST_MOVES) throw new Error(WORKERS_LOST);
    worker = answer.worker;
    yield* answer.lines;
    after += answer.lines.length;
    if (answer.end?.kind === 'failed') throw new Error(answer.end.message);
    if (answer.end !== null) return 'ended';
  }
}
