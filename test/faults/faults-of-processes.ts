import type { Member } from '../support/fleet.ts';
import { pauseMember } from '../support/pause-member.ts';
import { workersOf } from '../support/processes.ts';
import type { Fault, Role } from './fault.ts';
import type { FaultFleet, Roles } from './fault-fleet.ts';
import type { Observed } from './observe.ts';

const DOWN: Partial<Observed> = {
  tags: 'down',
  countries: 'down',
  ready: 'down',
  metrics: 'down',
};
const PAUSED: Partial<Observed> = { tags: 'late', countries: 'late', ready: 'late', metrics: 'late' };
const ENDED = /has ended or is silent/;
const BOTH_LATER = { tags: 'later', countries: 'later' } as const;

/** Ends the processes of these roles with a signal, and starts them again afterwards. */
function ends(signal: NodeJS.Signals, ...roles: readonly Role[]) {
  return async (_fleet: FaultFleet, given: Roles) => {
    await Promise.all(roles.map((role) => given[role].end(signal)));
    return () => Promise.all(roles.map((role) => given[role].start()));
  };
}

/** Pauses the processes of these roles, as SIGSTOP or a full machine does. */
function pauses(...roles: readonly Role[]) {
  return async (fleet: FaultFleet, given: Roles) => {
    for (const role of roles) await pauseMember(fleet, given[role]);
    return () => {
      for (const role of roles) given[role].server().signal('SIGCONT');
    };
  };
}

/** Sends a signal to the serving worker of a role. */
function signalsWorker(role: Role, signal: NodeJS.Signals) {
  return async (_fleet: FaultFleet, given: Roles) => {
    const [worker] = workersOf(given[role].server().supervisor);
    if (worker === undefined) throw new Error(`${role} has no worker`);
    process.kill(worker, signal);
    return () => (signal === 'SIGSTOP' ? process.kill(worker, 'SIGCONT') : undefined);
  };
}

/** Kills the supervisor of a role, but not its worker. */
async function orphansWorker(member: Member) {
  process.kill(member.server().supervisor, 'SIGKILL');
  await member.server().exited;
  return () => member.start();
}

export const ENDED_PROCESSES: readonly Fault[] = [
  {
    name: 'the leader is killed',
    make: ends('SIGKILL', 'leader'),
    during: { leader: DOWN },
    writes: BOTH_LATER,
    disturbs: ['leader'],
    state: ENDED,
    alerts: ['VarveDown'],
  },
  {
    name: 'the standby is killed',
    make: ends('SIGKILL', 'standby'),
    during: { standby: DOWN },
    disturbs: ['standby'],
    alerts: ['VarveDown'],
  },
  {
    name: 'the api is killed',
    make: ends('SIGKILL', 'api'),
    during: { api: DOWN },
    writes: { tags: 'refused', countries: 'refused' },
    disturbs: ['api'],
    alerts: ['VarveDown'],
  },
  {
    name: 'the leader is stopped with SIGTERM',
    make: ends('SIGTERM', 'leader'),
    during: { leader: DOWN },
    writes: BOTH_LATER,
    disturbs: ['leader'],
    alerts: ['VarveDown'],
  },
  {
    name: 'both processes that can lead are killed',
    make: ends('SIGKILL', 'leader', 'standby'),
    during: { leader: DOWN, standby: DOWN, api: { conditions: ['no-leader'] } },
    writes: { tags: 503, countries: 503 },
    disturbs: ['leader', 'standby'],
    state: /leader .* does not answer|there is no leader/i,
    log: /no-leader/,
    alerts: ['VarveDown', 'VarveNoLeader'],
  },
  {
    name: 'all processes are killed',
    make: ends('SIGKILL', 'leader', 'standby', 'api'),
    during: { all: DOWN },
    writes: { tags: 'refused', countries: 'refused' },
    disturbs: ['leader', 'standby', 'api'],
    alerts: ['VarveDown', 'VarveNoLeader'],
  },
  {
    name: 'the leader is paused',
    make: pauses('leader'),
    during: { leader: PAUSED },
    writes: BOTH_LATER,
    disturbs: ['leader'],
    alerts: ['VarveDown'],
  },
  {
    name: 'the standby is paused',
    make: pauses('standby'),
    during: { standby: PAUSED },
    disturbs: ['standby'],
    alerts: ['VarveDown'],
  },
  {
    name: 'the api is paused',
    make: pauses('api'),
    during: { api: PAUSED },
    writes: BOTH_LATER,
    disturbs: ['api'],
    alerts: ['VarveDown'],
  },
  {
    name: 'both processes that can lead are paused',
    make: pauses('leader', 'standby'),
    during: { leader: PAUSED, standby: PAUSED, api: { conditions: ['no-leader'] } },
    // 503 after ten seconds. The api waits up to a minute for a leader that has got the write.
    writes: { tags: 'any', countries: 'any' },
    disturbs: ['leader', 'standby'],
    state: /leader .* does not answer|there is no leader/i,
    alerts: ['VarveDown', 'VarveNoLeader'],
  },
  {
    name: 'the worker of the leader is killed',
    make: signalsWorker('leader', 'SIGKILL'),
    writes: BOTH_LATER,
    log: /the worker crashed: starting another one/,
    disturbs: ['leader'],
  },
  {
    name: 'the worker of the leader is paused',
    make: signalsWorker('leader', 'SIGSTOP'),
    writes: BOTH_LATER,
    disturbs: ['leader'],
    lasts: 6_000,
  },
  {
    name: 'the worker of the leader runs out of memory',
    make: signalsWorker('leader', 'SIGABRT'),
    writes: BOTH_LATER,
    log: /the worker crashed: starting another one/,
    disturbs: ['leader'],
  },
  {
    name: 'the worker of the standby is killed',
    make: signalsWorker('standby', 'SIGKILL'),
    log: /the worker crashed: starting another one/,
    disturbs: ['standby'],
  },
  {
    name: 'the worker of the api is killed',
    make: signalsWorker('api', 'SIGKILL'),
    writes: { tags: 'any', countries: 'any' },
    log: /the worker crashed: starting another one/,
    disturbs: ['api'],
  },
  {
    name: 'the supervisor of the leader is killed, and its worker is not',
    make: (_fleet, { leader }) => orphansWorker(leader),
    writes: BOTH_LATER,
    disturbs: ['leader'],
    lasts: 1_000,
  },
  {
    name: 'the supervisor of the api is killed, and its worker is not',
    make: (_fleet, { api }) => orphansWorker(api),
    writes: { tags: 'any', countries: 'any' },
    disturbs: ['api'],
    lasts: 1_000,
  },
];
