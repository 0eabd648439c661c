import type { FaultFleet, Roles } from './fault-fleet.ts';
import type { Observed } from './observe.ts';

export type Role = keyof Roles;

/**
 * 200: shown; 202: stored; 503: refused, all while the fault lasts. `later`: answered with 200 or 202 when it was over, or before.
 * `refused`: no connection. `any`: one of these, or the connection breaks.
 */
export type WriteOutcome = 200 | 202 | 503 | 'later' | 'refused' | 'any';

/** One row of the table: a fault, and what the processes answer and say while it lasts. Afterwards all are healthy without a restart. */
export type Fault = {
  readonly name: string;
  /** Called before the last write that precedes the fault. */
  readonly prepare?: (fleet: FaultFleet) => Promise<unknown>;
  /** Makes the fault. Resolves to the function that ends it. */
  readonly make: (fleet: FaultFleet, roles: Roles) => Promise<() => unknown>;
  /** Differences from the answers of a healthy process: in all processes, and in that of a role. Undefined: answers change
   * while it lasts, because Varve repairs it or refuses only some requests. */
  readonly during?: { readonly [role in Role | 'all']?: Partial<Observed> };
  /** Outcomes of writes through the api. Default: 200. */
  readonly writes?: { readonly tags?: WriteOutcome; readonly countries?: WriteOutcome };
  /** Pattern of the text of each refused read. */
  readonly says?: RegExp;
  /** Pattern of the first sentences of `/_varve/state` (`varve status`) of the processes with a condition. */
  readonly state?: RegExp;
  /** Pattern of a line in the log of a process that has a condition; of the leader if none has. */
  readonly log?: RegExp;
  /** Alerts of infra/ that fire if it lasts. */
  readonly alerts?: readonly string[];
  /** Roles whose processes the fault ends or pauses. Their connections may break. */
  readonly disturbs?: readonly Role[];
  /** Expects more while it lasts. */
  readonly expectMore?: (fleet: FaultFleet, roles: Roles) => Promise<void>;
  /** Milliseconds in which reads may show the fault, because nothing tells Varve. Default: 0. */
  readonly unnoticedFor?: number;
  /** True: it fills a disk of the fleet, which needs small ones. */
  readonly fillsDisk?: true;
  /** Milliseconds that it lasts at least. */
  readonly lasts?: number;
};
