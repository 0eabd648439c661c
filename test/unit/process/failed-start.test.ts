import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { readLease } from '../../../services/fleet/lease-view.ts';
import { openParts } from '../../../services/process/opened.ts';
import type { PurgeSettings } from '../../../services/purge/open-purger.ts';
import { PURGE_LIMITS } from '../../../services/purge/send-purges.ts';
import { embeddedReadSide } from '../../../services/read-side/embedded-read-side.ts';
import type { ReadSide, ReadSidePlan } from '../../../services/read-side/read-side.ts';
import { WEBHOOK_LIMITS } from '../../../services/webhooks/webhook-limits.ts';
import type { Lease } from '../../../shared/fleet/lease.ts';
import { withLog } from '../../support/log-facts.ts';
import { takesMinutes } from '../../support/takes-minutes.ts';
import { type OptionsForTest, openInProcess } from '../../support/varve-in-process.ts';

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'varve-start-'));
  folders.push(folder);
  return folder;
}

/** Returns a function that creates parts, which record when they are closed. */
function noted(closed: string[]) {
  return (name: string, fails = false) => ({
    async close() {
      closed.push(name);
      if (fails) throw new Error(`${name} cannot be closed`);
    },
  });
}

describe('parts of a process', () => {
  it('are closed in reverse order, each one even if another fails', async () => {
    const closed: string[] = [];
    const part = noted(closed);
    const whole = await openParts(async (opened) => {
      opened(part('log'));
      opened(part('graph', true));
      opened(part('index'));
      return { name: 'process' };
    });
    expect(closed).toEqual([]);
    await expect(whole.close()).rejects.toThrow('graph cannot be closed');
    expect(closed).toEqual(['index', 'graph', 'log']);
  });

  it('are closed if the next part cannot be opened, and its error is reported', async () => {
    const closed: string[] = [];
    const part = noted(closed);
    const opening = openParts(async (opened) => {
      opened(part('log'));
      opened(part('graph', true));
      throw new Error('no index');
    });
    await expect(opening).rejects.toThrow('no index');
    expect(closed).toEqual(['graph', 'log']);
  });
});

/** Plans an embedded index with some members of its read side replaced. `closed` counts how often it was closed. */
function readSideWith(change: Partial<ReadSide>, closed: { times: number }): ReadSidePlan {
  const plan = embeddedReadSide({});
  return {
    ...plan,
    async open(...parameters) {
      const readSide = await plan.open(...parameters);
      return {
        ...readSide,
        ...change,
        async close() {
          closed.times += 1;
          await readSide.close();
        },
      };
    },
  };
}

const SILENT = {
  error: () => {},
  attempted: () => {},
  purged: () => {},
  failed: () => {},
  replaced: () => {},
};
const PURGES: PurgeSettings = {
  targets: [],
  style: { soft: false, token: undefined },
  limits: PURGE_LIMITS,
  report: SILENT,
};

async function refuse(): Promise<never> {
  throw new Error('refused');
}

/** Starts that cannot open a part, with the reason and the number of read sides that were open by then. */
const FAILURES: readonly {
  readonly part: string;
  readonly options: (data: string) => OptionsForTest;
  readonly readSide?: Partial<ReadSide>;
  readonly message: RegExp;
  readonly opened: number;
}[] = [
  {
    part: 'uploaded files',
    options: (data) => ({ data: { assets: fileAt(join(data, 'assets')) } }),
    message: /EEXIST|ENOTDIR/,
    opened: 0,
  },
  { part: 'lock', options: () => ({ data: { takeDirectory: refuse } }), message: /refused/, opened: 0 },
  {
    part: 'log',
    options: () => ({ data: { eventStore: 'nowhere:1' } }),
    message: /must be an event store/,
    opened: 0,
  },
  {
    part: 'graph',
    options: (data) => {
      folderAt(data, 'generations.db');
      return {};
    },
    message: /unable to open database file/,
    opened: 0,
  },
  {
    part: 'key',
    options: () => ({ access: { accessKey: 'short' } }),
    message: /VARVE_ACCESS_KEY is not a key/,
    opened: 0,
  },
  {
    part: 'content types',
    options: () => ({ fleet: { generation: 1 } }),
    message: /start the server again/,
    opened: 0,
  },
  { part: 'turn', options: () => ({ fleet: { turn: refuse } }), message: /refused/, opened: 0 },
  {
    part: 'index',
    options: () => ({ readSide: { ...embeddedReadSide({}), open: refuse } }),
    message: /refused/,
    opened: 0,
  },
  {
    part: 'purges',
    options: (data) => {
      folderAt(data, 'purges.db');
      return { caches: { purges: PURGES } };
    },
    message: /unable to open database file/,
    opened: 1,
  },
  { part: 'lead', options: () => ({}), readSide: { lead: refuse }, message: /refused/, opened: 1 },
  {
    part: 'webhooks',
    options: (data) => {
      folderAt(data, 'webhooks.db');
      return { webhooks: { limits: WEBHOOK_LIMITS, report: SILENT } };
    },
    message: /unable to open database file/,
    opened: 1,
  },
];

/** Creates a folder at the path of a file. */
function folderAt(data: string, file: string): void {
  mkdirSync(join(data, file));
}

/** Creates a file at the path of a folder. */
function fileAt(path: string): string {
  writeFileSync(path, '');
  return path;
}

async function expectClosed({ options, readSide, message, opened }: (typeof FAILURES)[number]) {
  const data = newFolder();
  const closed = { times: 0 };
  const failing = { readSide: readSideWith(readSide ?? {}, closed), ...options(data) };
  await expect(openInProcess(data, failing)).rejects.toThrow(message);
  expect(closed.times).toBe(opened);
  for (const file of ['assets', 'generations.db', 'purges.db', 'webhooks.db'])
    rmSync(join(data, file), { recursive: true, force: true });
  expect(await leaseOf(data)).toMatchObject({ leader: undefined });
  // The locks of the directory and of the graph are free.
  const varve = await openInProcess(data);
  expect(varve.fleet.leader().kind).toBe('here');
  await varve.close();
}

function leaseOf(data: string): Promise<Lease> {
  const log = { eventStore: `sqlite:${join(data, 'events.db')}`, space: 'varve' };
  return withLog(log, (opened) => readLease(opened, 'varve'));
}

/** Returns true for two failures, for short runs: one before the process claims the lease, and one after that. */
const isQuick = ({ part }: { readonly part: string }) => part === 'key' || part === 'index';

it.each(FAILURES.filter(isQuick))(
  'a failed start closes the parts that it opened before: $part',
  expectClosed,
);

describe('a failed start', takesMinutes('starts that fail at each other step'), () => {
  it.each(FAILURES.filter((failure) => !isQuick(failure)))(
    'closes the parts that it opened before: $part',
    expectClosed,
  );
});
