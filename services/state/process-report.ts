import { z } from 'zod';
import { CONDITIONS, type ConditionCode } from '../operating/condition-table.ts';

const CODES = Object.keys(CONDITIONS) as [ConditionCode, ...ConditionCode[]];
const TEXT = z.string().max(4_000);

const CONDITION = z.object({
  code: z.enum(CODES),
  severity: z.enum(['outage', 'degraded']),
  message: TEXT,
  since: TEXT,
  readers: TEXT,
  writers: TEXT,
  advice: TEXT,
});

/** Report of a process about itself, for the other processes of its log. */
export const PROCESS_REPORT = z.object({
  role: z.enum(['serve', 'project', 'api']),
  /** Address at which other processes reach it; null: none, because it never becomes leader. */
  address: TEXT.nullable(),
  host: TEXT,
  /** The process that was started, which is above the one that serves. */
  pid: z.int(),
  version: TEXT,
  startedAt: TEXT,
  /** Data directory, or host and port without one. If a later process of the host has the same, this one has ended. null: unknown. */
  place: TEXT.nullable().default(null),
  /** Epoch of its lease if it is the leader; null: it is not. */
  epoch: z.int().nullable(),
  /** Position of the log that its reads show; null: it does not serve yet. */
  position: TEXT.nullable(),
  /** Age of the oldest event that it has not applied; null: unknown. */
  lagSeconds: z.number().nullable(),
  memoryBytes: z.int(),
  isReady: z.boolean(),
  /** Reason why it is not ready, or the note of a ready one; null: there is none. */
  reason: TEXT.nullable(),
  conditions: z.array(CONDITION).max(CODES.length),
  /** True in the last report of a process that stops for good: nobody waits for another one. */
  hasLeft: z.boolean().optional(),
});

export type ProcessReport = z.output<typeof PROCESS_REPORT>;

/** A process of the log, and how long it has been silent. */
export type ListedProcess = ProcessReport & { readonly silentSeconds: number };

/** Answer of the leader: the processes that it knows. */
export const PROCESS_LIST = z.array(PROCESS_REPORT.extend({ silentSeconds: z.number() })).max(1_000);
