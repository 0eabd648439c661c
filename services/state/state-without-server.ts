import type { Rebuild } from '../../projections/generations/generation.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { readLeaseUpTo } from '../fleet/lease-view.ts';
import { probeLeader } from '../fleet/probe-leader.ts';
import { LEADER_TIMEOUTS } from '../fleet/watch-leader.ts';
import { CONDITIONS } from '../operating/condition-table.ts';
import type { FoundCondition } from '../operating/conditions.ts';
import { rowsAbout } from '../operating/runbook.ts';
import type { State } from './state.ts';
import { checkRebuild } from './watch-rebuild.ts';

/** Part of a data directory without a server that a command can read. */
export type UnservedDirectory = {
  readonly log: EventStore;
  readonly space: string;
  readonly generations: { readonly store: { rebuild(): Rebuild | undefined } };
  /** The reason why the file of the live graph cannot be used as it is. */
  readonly unusable?: string | undefined;
};

/** Returns the state of a log of which this machine runs no server on the directory: whether another process is the leader. */
export async function stateWithoutServer(directory: UnservedDirectory): Promise<State> {
  const { log, space, generations, unusable } = directory;
  const { leader } = await readLeaseUpTo(log, space);
  const isAlive =
    leader !== undefined && (await probeLeader(leader, LEADER_TIMEOUTS.silence, undefined)) === 'alive';
  const found: (FoundCondition | undefined)[] = [
    isAlive ? undefined : { code: 'no-leader', message: 'there is no leader' },
    unusable === undefined ? undefined : { code: 'graph-unusable', message: unusable },
    await checkRebuild(generations.store.rebuild, () => true)(),
  ];
  const since = new Date().toISOString();
  const conditions = found
    .filter((each) => each !== undefined)
    .map(({ code, message }) => {
      const runbook = rowsAbout(code);
      return { ...CONDITIONS[code], code, message, since, processes: [], runbook };
    });
  const other = isAlive
    ? `The leader of its log is ${leader.address}.`
    : 'Its log has no leader: writes answer 503.';
  const also = conditions.flatMap(({ code, message, advice }) =>
    code === 'no-leader' ? [] : [`${message}. ${advice}`],
  );
  const text = [
    `No server has this data directory. ${other} Start varve serve or varve project to serve it.`,
    ...also,
  ];
  return {
    summary: { level: isAlive ? 'degraded' : 'outage', text: text.join(' ') },
    conditions,
    processes: [],
    readIndex: null,
    webhooks: null,
    purges: null,
  };
}
