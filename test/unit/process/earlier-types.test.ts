import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { claimLease } from '../../../services/fleet/claim-lease.ts';
import { readLease } from '../../../services/fleet/lease-view.ts';
import type { ServedApi } from '../../../services/http/served-api.ts';
import type { VarveOptions } from '../../../services/process/process-options.ts';
import { embeddedReadSide } from '../../../services/read-side/embedded-read-side.ts';
import type { ReadSidePlan } from '../../../services/read-side/read-side.ts';
import { FULL_ACCESS } from '../../../shared/access/rights.ts';
import { loadContentTypes } from '../../../shared/schema/load-content-types.ts';
import { contentTypeOf } from '../../../shared/schema/schema-registry.ts';
import { renameCooks } from '../../support/changed-kitchen.ts';
import { createKitchenTypes } from '../../support/kitchen.ts';
import { withLog } from '../../support/log-facts.ts';
import { createDataDirectory } from '../../support/server.ts';
import { openInProcess } from '../../support/varve-in-process.ts';

const SPACE = 'varve';

/** Creates a data directory with one cook, and a folder in which the cook's content type has another attribute. */
async function changedKitchen(): Promise<{ readonly data: string; readonly types: Partial<VarveOptions> }> {
  const folder = createKitchenTypes();
  const data = createDataDirectory();
  onTestFinished(() => {
    for (const each of [folder, data]) rmSync(each, { recursive: true, force: true });
  });
  const varve = await openInProcess(data, typesOf(folder));
  const type = contentTypeOf(varve.registry, 'api::cook.cook');
  await varve.apiFor(FULL_ACCESS).content.create(type, '', { data: { name: 'Ada' } });
  await varve.close();
  renameCooks(folder);
  return { data, types: typesOf(folder) };
}

function typesOf(folder: string): Partial<VarveOptions> {
  const loaded = loadContentTypes(folder);
  if (loaded.kind === 'problems') throw new Error(JSON.stringify(loaded.problems));
  return loaded;
}

/** Creates an index that counts as outside of the process. `closed` is called before it closes. It can be updated until `lost` rejects. */
function outsideReadSide(closed: () => void, lost = Promise.withResolvers<void>().promise): ReadSidePlan {
  const plan = embeddedReadSide({});
  const none = async () => ({});
  const sets = {
    ...{ live: none, plan: none, make: async () => {}, fits: async () => true, promote: async () => false },
    documents: () => {
      throw new Error('nothing is written');
    },
    close: async () => {},
  };
  return {
    ...plan,
    async open(...parameters) {
      const readSide = await plan.open(...parameters);
      return {
        ...readSide,
        done: Promise.race([readSide.done, lost]),
        async close() {
          closed();
          await readSide.close();
        },
      };
    },
    outside: {
      open: async () => sets,
      newestEpoch: async () => 0,
      isLive: async () => true,
      own: async () => () => false,
      remove: async () => {},
      sweep: async () => ({ removed: [], existing: new Set() }),
    },
  };
}

async function takeOver(data: string): Promise<void> {
  await withLog({ eventStore: `sqlite:${join(data, 'events.db')}`, space: SPACE }, async (log) => {
    const another = { log, space: SPACE, owner: 'another', address: 'http://127.0.0.1:9' };
    const now = () => new Date().toISOString();
    await claimLease({ ...another, now }, await readLease(log, SPACE));
  });
}

it('a process that loses its lease while it serves earlier content types stops its requests before it closes the parts that answer them', async () => {
  const { data, types } = await changedKitchen();
  const served = Promise.withResolvers<ServedApi>();
  const ending = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  let isClosed = false;
  const varve = openInProcess(data, {
    ...types,
    convertAtOnce: 0,
    readSide: outsideReadSide(() => {
      isClosed = true;
    }),
    meanwhile: {
      serve: async (api) => served.resolve(api),
      rebuild: () => {},
      end() {
        ending.resolve();
        return left.promise;
      },
    },
  });
  const ended = expect(varve).rejects.toThrow('another process became the leader');
  const api = await served.promise;
  expect(api.forwarding.refuseWrites).not.toThrow();
  await takeOver(data);
  await ending.promise;
  const cooks = await api
    .apiFor(FULL_ACCESS)
    .content.list(contentTypeOf(api.registry, 'api::cook.cook'), 'status=draft&fields=name');
  expect(JSON.parse(Buffer.from(cooks).toString()).data).toEqual([expect.objectContaining({ name: 'Ada' })]);
  expect(api.forwarding.refuseWrites).toThrow(
    expect.objectContaining({
      code: 'no-leader',
      message: expect.stringContaining('Another process is the leader now'),
    }),
  );
  expect(isClosed).toBe(false);
  left.resolve();
  await ended;
  expect(isClosed).toBe(true);
});

it('a process whose index fails while it begins to serve earlier content types ends with the reason', async () => {
  const { data, types } = await changedKitchen();
  const lost = Promise.withResolvers<void>();
  const varve = openInProcess(data, {
    ...types,
    convertAtOnce: 0,
    readSide: outsideReadSide(() => {}, lost.promise),
    meanwhile: {
      async serve() {
        lost.reject(new Error('the index refuses the password'));
        await nextTurn();
      },
      rebuild: () => {},
      end: async () => {},
    },
  });
  await expect(varve).rejects.toThrow('the index refuses the password');
});
