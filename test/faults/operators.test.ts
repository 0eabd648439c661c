import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { needsElasticsearch } from '../support/elasticsearch.ts';
import { runVarve } from '../support/run-varve.ts';
import { needsQuietMachine } from '../support/takes-minutes.ts';
import { answers, isBulk, only, refusal } from './break-elasticsearch.ts';
import type { Fault } from './fault.ts';
import { type FaultFleet, type Process, type Roles, startFaultFleet } from './fault-fleet.ts';
import { faultNamed } from './fault-named.ts';
import { deleteTag } from './faults-of-documents.ts';
import { HEALTHY, observe } from './observe.ts';

/** A fault, and at most two commands on the data directory of a process that name its cause. */
type Case = {
  readonly broken: string;
  readonly fault: Pick<Fault, 'make' | 'prepare'>;
  /** Process on whose machine the operator is. */
  readonly at: keyof Roles;
  readonly commands: readonly [readonly string[], (readonly string[])?];
  /** The cause, in what the commands print. */
  readonly names: RegExp;
};

const WITHIN = 45_000;

/** Makes a rebuild fail: Elasticsearch makes no index for it. */
const failedRebuild: Pick<Fault, 'make'> = {
  async make(fleet, roles) {
    const isMaking = ({ method, path }: { readonly method: string; readonly path: string }) =>
      method === 'PUT' && path.split('/').length === 2;
    const undo = await answers(only(isMaking, refusal(403, 'security_exception', 'not allowed')))(
      fleet,
      roles,
    );
    const { code } = await varve(fleet, roles.leader, 'rebuild', '--type', 'tag');
    expect(code).toBe(1);
    return async () => {
      await undo();
      expect(await varve(fleet, roles.leader, 'rebuild', '--cancel')).toMatchObject({ code: 0 });
    };
  },
};

/** Restores an older copy of an index while no document can be written. */
const restoredSnapshot: Pick<Fault, 'make' | 'prepare'> = {
  prepare: ({ admin }) => admin.snapshot(),
  async make(fleet, roles) {
    const undo = await answers(only(isBulk, refusal(503, 'unavailable', 'not now')))(fleet, roles);
    const { admin, space } = fleet;
    await admin.restore(await admin.liveIndex(`${space}-api_tag_tag-published`));
    return undo;
  },
};

/** Deletes a document while no document can be written. Otherwise its index would be right again within seconds. */
const deletedDocument: Pick<Fault, 'make'> = {
  async make(fleet, roles) {
    const undo = await answers(only(isBulk, refusal(503, 'unavailable', 'not now')))(fleet, roles);
    await deleteTag(fleet);
    return undo;
  },
};

const CASES: readonly Case[] = [
  {
    broken: 'the leader is killed',
    fault: faultNamed('the leader is killed'),
    at: 'standby',
    commands: [['status']],
    names: /Varve serve \d+ .* has ended or is silent/,
  },
  {
    broken: 'Elasticsearch is stopped',
    fault: faultNamed('connections are refused'),
    at: 'leader',
    commands: [['status']],
    names: /Elasticsearch .*does not answer/s,
  },
  {
    broken: 'one process has a wrong schema',
    fault: faultNamed('one process has other content types'),
    at: 'leader',
    commands: [['status']],
    names: /attribute extra is .* here and missing in force/,
  },
  {
    broken: 'a document is refused',
    fault: faultNamed('a document has a value that its field does not take'),
    at: 'leader',
    commands: [['status'], ['parked', 'list']],
    names: /documents are parked.*api::restaurant\.restaurant.*failed to parse field/s,
  },
  {
    broken: 'a document was deleted in Elasticsearch',
    fault: deletedDocument,
    at: 'leader',
    commands: [['status']],
    names: /lacks 1 document/,
  },
  {
    broken: 'there is no leader',
    fault: faultNamed('both processes that can lead are killed'),
    at: 'leader',
    commands: [['status']],
    names: /no server|no leader|does not run|not running/i,
  },
  {
    broken: 'a rebuild failed',
    fault: failedRebuild,
    at: 'leader',
    commands: [['status']],
    names: /The rebuild of generation \d+ has stopped: .*not allowed/s,
  },
  {
    broken: 'a snapshot was restored',
    fault: restoredSnapshot,
    at: 'leader',
    commands: [['status']],
    names: /restored from a snapshot/,
  },
];

function varve({ admin, eventStore, space }: FaultFleet, { data }: Process, ...command: readonly string[]) {
  const where = ['--data', data];
  const index = ['--read-index', admin.url, '--event-store', eventStore, '--space', space];
  return runVarve([...command, ...where, ...(['verify', 'rebuild'].includes(command[0] ?? '') ? index : [])]);
}

const TITLE = 'faults: what two commands tell an operator';

describe(TITLE, await needsElasticsearch(needsQuietMachine(TITLE)), () => {
  let fleet: FaultFleet;
  beforeAll(async () => {
    fleet = await startFaultFleet(`operators_${process.pid}`);
    const body = JSON.stringify({ data: { key: 'a', name: 'a' } });
    const { api } = await fleet.roles();
    const headers = { 'content-type': 'application/json' };
    const url = `${api.server().url}/api/tags`;
    // 202 on a slow machine: it is stored, and shown a moment later.
    expect([201, 202]).toContain((await fetch(url, { method: 'POST', headers, body })).status);
  }, 180_000);
  afterAll(() => fleet?.dispose(), 60_000);

  const healthy = async () => (await Promise.all(fleet.all.map(observe))).map(({ observed }) => observed);

  it.for(CASES)('$broken', { timeout: 240_000 }, async ({ fault, at, commands, names }) => {
    const roles = await fleet.roles();
    await fault.prepare?.(fleet);
    const undo = await fault.make(fleet, roles);
    const seen = async () => {
      const printed = await Promise.all(
        commands.flatMap((command) => (command === undefined ? [] : [varve(fleet, roles[at], ...command)])),
      );
      return printed.map(({ stdout, stderr }) => stdout + stderr).join('\n');
    };
    try {
      await expect.poll(seen, { timeout: WITHIN, interval: 500 }).toMatch(names);
    } finally {
      await undo();
    }
    await expect.poll(healthy, { timeout: WITHIN, interval: 200 }).toEqual(fleet.all.map(() => HEALTHY));
  });
});
