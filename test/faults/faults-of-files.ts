import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { lockLog } from '../support/log-lock.ts';
import { CONFORMANCE_SCHEMA, spawnVarve, type VarveProcess } from '../support/server.ts';
import type { Fault, Role } from './fault.ts';
import type { FaultFleet, Process, Roles } from './fault-fleet.ts';

/** A write is refused, unless its event is stored. */
const REFUSED_OR_LATER = { tags: 'any', countries: 'any' } as const;
const BOTH_LATER = { tags: 'later', countries: 'later' } as const;
const FULL: Pick<Fault, 'state' | 'log' | 'alerts' | 'fillsDisk'> = {
  fillsDisk: true,
  state: /the disk of .* is full/i,
  log: /disk-full/,
  alerts: ['VarveDiskFull'],
};

/** Fills a disk. */
function fills(diskOf: (fleet: FaultFleet, roles: Roles) => Process['disk']) {
  return async (fleet: FaultFleet, roles: Roles) => {
    const disk = diskOf(fleet, roles);
    if (disk === undefined) throw new Error('the fleet has no small disks');
    disk.fill();
    return () => disk.empty();
  };
}

/** Ends the process of a role, changes its files, and starts it again. */
function restarts(role: Role, change: (data: string) => void) {
  return async (_fleet: FaultFleet, given: Roles) => {
    const member = given[role];
    await member.end('SIGKILL');
    change(member.data);
    await member.start();
    return () => {};
  };
}

/** Overwrites the files of a name in a directory. */
function damages(name: RegExp) {
  return (data: string) => {
    for (const file of readdirSync(data).filter((each) => name.test(each)))
      writeFileSync(join(data, file), 'This is not a database. '.repeat(2_000));
  };
}

function removes(name: RegExp) {
  return (data: string) => {
    for (const file of readdirSync(data).filter((each) => name.test(each))) rmSync(join(data, file));
  };
}

/** Starts one more process on the log, with other arguments. Its end is that of the fault. */
function adds(argumentsFor: (fleet: FaultFleet, roles: Roles, data: string) => readonly string[], env = {}) {
  let added: VarveProcess;
  const make: Fault['make'] = async (fleet, roles) => {
    const data = mkdtempSync(join(tmpdir(), 'varve-added-'));
    const index = ['--read-index', fleet.admin.url, '--event-store', fleet.eventStore];
    const given = ['--space', fleet.space, '--port', '0', '--metrics-port', '0', '--data', data];
    const [role = 'serve', ...more] = argumentsFor(fleet, roles, data);
    added = spawnVarve([role, ...index, ...given, ...more], env);
    return async () => {
      added.child.kill('SIGKILL');
      await added.exited;
      rmSync(data, { recursive: true, force: true });
    };
  };
  const saysSoon = (text: RegExp) =>
    expect.poll(() => added.output(), { timeout: 60_000, interval: 100 }).toMatch(text);
  const isUnready = async (text: RegExp) => {
    await saysSoon(/Metrics and health are at/);
    const [, health] = /Metrics and health are at (http:\S+)/.exec(added.output()) ?? [];
    const ready = async () => (await fetch(`${health}/health/ready`)).text();
    await expect.poll(ready, { timeout: 60_000, interval: 200 }).toMatch(text);
  };
  return { make, saysSoon, isUnready };
}

const TYPES = ['--content-types', CONFORMANCE_SCHEMA];

const otherTypes = adds((_fleet, _roles, data) => {
  const folder = join(data, 'types');
  cpSync(CONFORMANCE_SCHEMA, folder, { recursive: true });
  const file = join(folder, 'api/country/content-types/country/schema.json');
  const schema = JSON.parse(readFileSync(file, 'utf8')) as { attributes: object };
  writeFileSync(
    file,
    JSON.stringify({ ...schema, attributes: { ...schema.attributes, extra: { type: 'string' } } }),
  );
  return ['serve', '--content-types', folder];
});
const sameDirectory = adds((_fleet, { standby }) => ['serve', ...TYPES, '--data', standby.data]);
const otherIndex = adds(() => ['api', ...TYPES, '--read-index', 'http://127.0.0.1:9']);

/** Moves the clock of a process by some days. */
function clock(days: number): Readonly<Record<string, string>> {
  const shift = `const now = Date.now; const by = ${days * 86_400_000};
    globalThis.Date = class extends Date {
      constructor(...given) { given.length === 0 ? super(now() + by) : super(...given); }
      static now() { return now() + by; }
    };`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(shift)}` };
}
const early = adds(() => ['serve', ...TYPES], clock(-2));
const late = adds(() => ['api', ...TYPES], clock(2));

/** Faults of files, disks and of processes with other settings. They need small disks. */
export const FILES: readonly Fault[] = [
  {
    name: 'the disk of the leader is full',
    make: fills((_fleet, { leader }) => leader.disk),
    during: { leader: { conditions: ['disk-full'] } },
    writes: REFUSED_OR_LATER,
    ...FULL,
  },
  {
    name: 'the disk of the standby is full',
    make: fills((_fleet, { standby }) => standby.disk),
    during: { standby: { conditions: ['disk-full'] } },
    ...FULL,
  },
  {
    name: 'the disk of the log is full',
    make: fills(({ disk }) => disk),
    during: { leader: { conditions: ['disk-full'] } },
    writes: REFUSED_OR_LATER,
    ...FULL,
  },
  {
    name: 'another program has locked the log',
    make: async ({ eventStore }) => {
      for (;;) {
        const release = lockLog(eventStore);
        if (release !== undefined) return release;
      }
    },
    writes: REFUSED_OR_LATER,
    lasts: 4_000,
  },
  {
    name: 'the log is moved away',
    make: async ({ eventStore, all }) => {
      const file = eventStore.slice('sqlite:'.length);
      renameSync(file, `${file}.away`);
      return async () => {
        renameSync(`${file}.away`, file);
        for (const each of all) await each.end('SIGKILL');
        await Promise.all(all.map((each) => each.start()));
      };
    },
    writes: { tags: 'any', countries: 'any' },
    disturbs: ['leader', 'standby', 'api'],
    log: /was replaced or removed while it was open/,
  },
  {
    name: 'the graph of the standby is damaged',
    make: restarts('standby', damages(/^graph.*\.db$/)),
    disturbs: ['standby'],
  },
  {
    name: 'the graph of the leader is damaged',
    make: restarts('leader', damages(/^graph.*\.db$/)),
    writes: BOTH_LATER,
    disturbs: ['leader'],
  },
  {
    name: 'the graph of the leader is removed',
    make: restarts('leader', removes(/^graph.*\.db/)),
    writes: BOTH_LATER,
    disturbs: ['leader'],
  },
  {
    name: 'the record of generations of the standby is damaged',
    make: restarts('standby', damages(/^generations\.db$/)),
    disturbs: ['standby'],
  },
  {
    name: 'the whole directory of the standby is emptied',
    make: restarts('standby', removes(/\.db|\.json$/)),
    disturbs: ['standby'],
  },
  {
    name: 'lock.json of a running process is removed',
    make: async (_fleet, { leader }) => {
      removes(/^lock\.json$/)(leader.data);
      return () => {};
    },
    // Commands find the server by this file.
    expectMore: async (_fleet, { leader }) => {
      const isThere = () => existsSync(join(leader.data, 'lock.json'));
      await expect.poll(isThere, { timeout: 60_000, interval: 100 }).toBe(true);
    },
  },
  {
    name: 'one process has other content types',
    make: otherTypes.make,
    during: {},
    expectMore: () => otherTypes.isUnready(/attribute extra is .* here and missing in force/),
    state: /attribute extra is .* here and missing in force/,
  },
  {
    name: 'a second process gets the directory of the standby',
    make: sameDirectory.make,
    during: {},
    expectMore: () => sameDirectory.saysSoon(/is in use/),
  },
  {
    name: 'one process has a wrong address of Elasticsearch',
    make: otherIndex.make,
    during: {},
    expectMore: () => otherIndex.saysSoon(/does not answer|cannot be reached|ECONNREFUSED/),
  },
  {
    name: 'the clock of a standby is two days slow',
    make: early.make,
    during: {},
    expectMore: () => early.saysSoon(/Varve serves/),
    lasts: 12_000,
  },
  {
    name: 'the clock of an api is two days fast',
    make: late.make,
    during: {},
    expectMore: () => late.saysSoon(/Varve serves/),
    lasts: 12_000,
  },
];
