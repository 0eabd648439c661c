import type * as z from 'zod';
import type { Rebuild } from '../../projections/generations/generation.ts';
import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import type { EventStore, StoredEvent } from '../../shared/event-store/event-store.ts';
import type { ResourceCall, ResourceResult } from '../../shared/resource.ts';
import type { SchemaWarning } from '../../shared/schema/schema-problem.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { AddedFormats } from '../assets/pictures/file-formats.ts';
import type { ImportWriter } from '../command/import-writer.ts';
import type { ServedErasures } from '../erasure/erasure-resources.ts';
import type { FollowStatus } from '../follow/follow-state.ts';
import type { ReadSide } from '../read-side/read-side.ts';
import type { ServedGenerations } from '../read-side/served-generations.ts';
import type { SettingsInForce } from '../state/settings-in-force.ts';
import type { State } from '../state/state.ts';
import type { ArchiveFile } from '../strapi/archive.ts';
import type { DefineRoles } from '../strapi/import-archive.ts';

/**
 * Task that only the process with the lock of a data directory can do. A server runs it for commands (operator-listener.ts). Without a
 * server the command runs the same code (open-operations.ts).
 */
export type Operation<Form extends z.ZodType, Line, Context = OperatorContext> = {
  /** Request as JSON. */
  readonly form: Form;
  /**
   * Present if only the leader can run it, where all processes read one index. `again`: if that process is lost, the next leader runs it from
   * its beginning. `once`: only the data directory that began it can end it.
   */
  readonly ofLeader?: 'again' | 'once';
  /** True for an operation that writes: its end is reported when the reads of all workers show the writes. */
  readonly writes?: true;
  /** Absent: only commands run it, as a step of their work or with files of this machine. */
  readonly http?: HttpDoor;
  /**
   * Yields the answer line by line: JSON values, bigints as texts. Throws an Error with a message for the operator.
   * `signal` is aborted when the operator disconnects or the server stops.
   */
  run(context: Context, request: z.output<Form>, signal: AbortSignal): AsyncIterable<Line>;
};

/** The route of an operation for callers with full access: `POST /_varve/operations/<name>`. */
export type HttpDoor = {
  readonly summary: string;
  /** `one`: the last line is the answer, and the lines before it report progress. `all`: every line is a part of the answer. */
  readonly answer: 'one' | 'all';
  /** True: it removes or replaces what is stored or served. A request repeats its name as `confirm`. */
  readonly destroys?: true;
};

/** Context of operations. */
export type OperatorContext = {
  readonly data: string;
  readonly space: string;
  readonly log: EventStore;
  /** Graph of the live generation. */
  readonly graph: ContentGraph;
  readonly generations: ServedGenerations;
  /** Process of a server that has the directory: it applies the log during an operation. undefined: only operations change anything. */
  readonly server: { readonly pid: number } | undefined;
  /** Other workers of the server; absent if there are none. */
  readonly workers?: OtherWorkers | undefined;
  /** Omissions of a server's content types; none if no server has read them. */
  readonly schemaWarnings: readonly SchemaWarning[];
  /** Code of the project that the server does not run, one line for each kind. */
  readonly codeNotes: readonly string[];
  /** Reads the state of the processes of the log. Absent: this process is a command, and there is no server. */
  readonly state?: () => Promise<State>;
  /** The event that the server stopped before, as it cannot read it. */
  readonly unreadable?: () => StoredEvent | undefined;
  /** Dependencies of imports, if a server can write. */
  readonly imports?: {
    readonly registry: SchemaRegistry;
    readonly defaultLocale: string;
    readonly writer: ImportWriter;
    /** Stores a file of an archive. */
    readonly takeAsset: (file: ArchiveFile) => Promise<void>;
    /** Stores roles of an archive. */
    readonly defineRoles: DefineRoles;
    /** Makes the smaller pictures of a file that has none. */
    readonly addFormats: (documentId: string) => Promise<AddedFormats>;
  };
  /** Returns the settings of the server. Absent: this process is a command, and there is no server. */
  readonly settings?: () => SettingsInForce;
  /** Runs a resource of releases. Absent: there are none, because no server runs or it follows a Strapi. Throws RequestError. */
  readonly releases?: (call: ResourceCall) => Promise<ResourceResult>;
  /** Erases documents for good. Absent: there is no server. */
  readonly erase?: ServedErasures['erase'];
  /** Returns the state of the follower of a Strapi; absent if there is no follower. */
  readonly follow?: () => FollowStatus;
  /** The leader of a log whose processes read one index. Absent: this process runs every operation itself. */
  readonly leader?: LeaderLink | undefined;
  /** Ends rebuilds of a server. */
  readonly rebuilds?: Rebuilds;
  /** Id of the request, if another process of the log has sent it. */
  readonly asked?: string;
  /** Starts a process of low priority that builds the next generation of a server. Yields the reports of that process. */
  readonly build?: (request: BuildRequest, signal: AbortSignal) => AsyncIterable<Rebuild>;
  /** Runs a command of Varve on the server's data, as a process of low priority. Yields the lines of its output. */
  readonly command?: (args: readonly string[], signal: AbortSignal) => AsyncIterable<string>;
  /** Returns the read side. It is opened on demand unless a server has it open. */
  readonly readSide: () => Promise<ReadSide>;
};

/** Context of operations that only look, also in a process that changes nothing of the data directory. */
export type LookContext = Pick<
  OperatorContext,
  | 'space'
  | 'log'
  | 'graph'
  | 'server'
  | 'workers'
  | 'schemaWarnings'
  | 'codeNotes'
  | 'unreadable'
  | 'follow'
  | 'readSide'
  | 'state'
> & {
  readonly generations: Pick<ServedGenerations, 'store'>;
  /** The reason why the file of the live graph cannot be used; the next start replaces or upgrades it. */
  readonly unusable?: string | undefined;
};

/** Requests to the leader of the log, if it is another process. */
export type LeaderLink = {
  /** Resolves to the place of the leader as soon as there is one. Rejects with a message if there is none for a minute. */
  locate(signal: AbortSignal): Promise<'here' | 'elsewhere'>;
  /** Sends a request for a job (jobs.ts). `here`: this process has become the leader. Rejects with a message if there is no answer. */
  ask(request: JobRequest): Promise<JobAnswer | 'here'>;
};

/** Request of another process to the leader: it begins a job, or asks for the next lines of one. */
export type JobRequest = {
  /** Chosen by the sender. A request with a known id does not begin another job. */
  readonly id: string;
  readonly name: string;
  readonly form: unknown;
  /** Number of lines that the sender has. */
  readonly after: number;
  /** Data directory that began the job; null: not known yet. */
  readonly directory: string | null;
};

export type JobAnswer = {
  /** Identity of the leader's data directory. */
  readonly directory: string;
  /** Identity of the process that answers; undefined: it has an earlier release. */
  readonly worker: string | undefined;
  readonly lines: readonly unknown[];
  /** null: the job has not ended. `moved`: another data directory began it. */
  readonly end:
    | { readonly kind: 'done' | 'moved' }
    | { readonly kind: 'failed'; readonly message: string }
    | null;
};

/** Ends the rebuild of a server. */
export type Rebuilds = {
  /** See interruptRebuild. */
  interrupt(wanted: 'pause' | 'cancel'): Promise<Rebuild>;
  /** See discardRebuild. */
  discard(rebuild: Rebuild, message: string): Promise<void>;
  /** See noteAbandoned. */
  noteAbandoned(): void;
  /** Removes indices that other data directories of the log could roll back to. */
  dropOfOthers(): Promise<readonly string[]>;
};

/** Workers that answer reads, without the one that runs operations. */
export type OtherWorkers = {
  readers(): Promise<readonly Pick<WorkerStatus, 'pid' | 'position'>[]>;
  /** Resolves when the reads of all of them show the log up to this position. */
  shown(position: bigint): Promise<void>;
};

/** Status of one of several workers of a server. */
export type WorkerStatus = {
  readonly pid: number;
  readonly role: 'leading' | 'reading';
  /** Position of the last event that its reads show; null: it is starting. */
  readonly position: string | null;
};

/** Request for a rebuild. Its members are the options of `varve rebuild`. */
export type BuildRequest = {
  readonly graph: boolean;
  readonly copy?: true | undefined;
  readonly type?: string | undefined;
  readonly world?: string | undefined;
  readonly maxRate?: string | undefined;
  readonly accept: boolean;
};

/** Returns the operation as it is. It gives `run` the type of the parsed request. */
export function defineOperation<Form extends z.ZodType, Line>(
  operation: Operation<Form, Line>,
): Operation<Form, Line> {
  return operation;
}

/** Returns an operation that can only look. */
export function defineLook<Form extends z.ZodType, Line>(
  operation: Operation<Form, Line, LookContext>,
): Operation<Form, Line, LookContext> {
  return operation;
}
