import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { createCondition } from '../../shared/condition.ts';
import { finalReason, LeaderElsewhere } from '../read-side/outside-generation.ts';
import type { JobAnswer, JobRequest, OperatorContext } from './operation.ts';
import { parseOperation } from './operations.ts';

/** Operations that other processes of the log have asked this leader to run. */
export type Jobs = ReturnType<typeof createJobs>;

export const JOB_REQUEST = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  form: z.unknown(),
  after: z.int().min(0),
  directory: z.string().nullable(),
}) satisfies z.ZodType<JobRequest>;

/** Time after which an answer without a new line is sent. */
const ANSWER_MS = 5_000;
/** Time without a request after which a job is interrupted, like an operation whose operator has disconnected, or forgotten. */
const ABANDONED_MS = 60_000;
/** Time in which another command that waits for the same rebuild continues it. */
const CONTINUED_MS = 2_000;

type Job = {
  /** Number of lines that a process which this one has replaced has sent. */
  readonly before: number;
  readonly lines: unknown[];
  readonly changed: ReturnType<typeof createCondition>;
  end: JobAnswer['end'];
  askedAt: number;
};

/** Creates the state without a job. */
export function createJobs(context: OperatorContext) {
  const { store } = context.generations;
  const directory = store.directory();
  const worker = randomUUID();
  const jobs = new Map<string, Job>();

  async function* linesOf(
    { id, name, form: request }: JobRequest,
    signal: AbortSignal,
  ): AsyncGenerator<unknown> {
    const { operation, form } = parseOperation(name, request);
    if (operation.ofLeader === undefined) throw new Error(`${name} is not an operation of the leader`);
    const generation = store.requested(id);
    // A worker that this one has replaced began the job.
    if (generation !== undefined && store.live().number === generation) {
      const rebuild = store.rebuild();
      yield rebuild?.generation === generation ? rebuild : store.live();
      return;
    }
    const last = store.rebuild();
    const reason = last?.generation === generation && last !== undefined ? finalReason(last) : undefined;
    if (reason !== undefined) throw new Error(reason);
    if (generation !== undefined && operation.ofLeader === 'once')
      throw new Error(`generation ${generation} is not served: the server ended before the switch did`);
    yield* operation.run({ ...context, asked: id }, form, signal);
  }

  function begin(request: JobRequest): Job {
    const stopping = new AbortController();
    const job: Job = {
      before: request.after,
      lines: [],
      changed: createCondition(),
      end: null,
      askedAt: performance.now(),
    };
    const run = async () => {
      try {
        for await (const line of linesOf(request, stopping.signal)) {
          job.lines.push(line);
          job.changed.check();
        }
        job.end = { kind: 'done' };
      } catch (error) {
        job.end =
          error instanceof LeaderElsewhere
            ? { kind: 'moved' }
            : { kind: 'failed', message: (error as Error).message };
      }
      job.changed.check();
    };
    const watch = async () => {
      while (performance.now() - job.askedAt < ABANDONED_MS) await pause(ABANDONED_MS / 10);
      const isRunning = job.end === null;
      stopping.abort(new Error('no client waits for the answer'));
      jobs.delete(request.id);
      if (!isRunning || request.name !== 'rebuild') return;
      await job.changed.until(() => job.end !== null);
      await pause(CONTINUED_MS);
      context.rebuilds?.noteAbandoned();
    };
    // Never rejects: a failure is the end of the job.
    void run();
    // A process that ends has closed its record.
    watch().catch(() => {});
    return job;
  }

  return {
    /** Begins a job unless it is known, and waits a few seconds for lines that the sender does not have. */
    async answer(request: JobRequest): Promise<JobAnswer> {
      if (request.directory === null) return { directory, worker, lines: [], end: null };
      if (request.directory !== directory) return { directory, worker, lines: [], end: { kind: 'moved' } };
      const job = jobs.get(request.id) ?? begin(request);
      jobs.set(request.id, job);
      job.askedAt = performance.now();
      const seen = request.after - job.before;
      await job.changed.until(() => job.end !== null || job.lines.length > seen, ANSWER_MS);
      return { directory, worker, lines: job.lines.slice(seen), end: job.end };
    },
  };
}

/** Waits, without keeping the process alive. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref());
}
