import { answers, isBulk, only, silent } from './break-elasticsearch.ts';
import type { Fault } from './fault.ts';
import type { FaultFleet } from './fault-fleet.ts';
import type { Observed } from './observe.ts';

type Undo = (() => unknown) | undefined;

/** Returns the name under which searches find an index. */
export const aliasOf = ({ space }: FaultFleet, type = 'tag') => `${space}-api_${type}_${type}-published`;

/** Makes a fault of the live index of the tags. Without an undo Varve repairs it while it lasts. */
function onTags(make: (fleet: FaultFleet, index: string) => Promise<Undo>) {
  return async (fleet: FaultFleet) => {
    const undo = await make(fleet, await fleet.admin.liveIndex(aliasOf(fleet)));
    return undo ?? (() => {});
  };
}

function blocked(block: string) {
  return onTags(async ({ admin }, index) => {
    const set = (value: true | null) =>
      admin.send('PUT', `/${index}/_settings`, { [`index.blocks.${block}`]: value });
    await set(true);
    return () => set(null);
  });
}

/** Sends requests about the index. `INDEX` in a path is replaced by its name. */
function sends(...requests: readonly (readonly [method: string, path: string, body?: object])[]) {
  return onTags(async ({ admin }, index) => {
    for (const [method, path, body] of requests) await admin.send(method, path.replace('INDEX', index), body);
    return undefined;
  });
}

const TAGS_REFUSED: Partial<Observed> = { tags: 503, conditions: ['index-unusable'] };
const UNUSABLE = ['VarveIndexUnusable'];
/** The leader looks each second, and the others read what it found every two seconds. */
const NOTICED_MS = 6_000;
const CHANGED = /an index has changed behind Varve/;

/** Returns the expectations of a row in which reads of the tags are refused because of their index. */
function refused(says: RegExp): Pick<Fault, 'during' | 'writes' | 'says' | 'state' | 'log' | 'alerts'> {
  const writes = { tags: 'later' } as const;
  return { during: { all: TAGS_REFUSED }, writes, says, state: says, log: CHANGED, alerts: UNUSABLE };
}

const IS_CLOSED = refused(/is closed: open it/);
const IS_BLOCKED = refused(/is blocked .*: lift the block/);

export const CHANGED_INDICES: readonly Fault[] = [
  {
    name: 'an index is closed',
    make: onTags(async ({ admin }, index) => {
      await admin.send('POST', `/${index}/_close`);
      return () => admin.send('POST', `/${index}/_open`);
    }),
    ...IS_CLOSED,
  },
  ...['read_only', 'write', 'read_only_allow_delete', 'read'].map(
    (block): Fault => ({
      name: `an index is blocked: ${block}`,
      make: blocked(block),
      ...IS_BLOCKED,
    }),
  ),
  {
    // Positions count as shown without the tags while these are refused, also for the next leader.
    name: 'an index is blocked: write, and the leader is killed when the block ends',
    make: async (fleet, roles) => {
      const lift = await blocked('write')(fleet);
      return async () => {
        await lift();
        await roles.leader.end('SIGKILL');
        await roles.leader.start();
      };
    },
    ...IS_BLOCKED,
    disturbs: ['leader'],
  },
  {
    name: 'an index is blocked: write, and a node that has not heard of it is asked',
    make: async (fleet, roles) => {
      const { admin, space } = fleet;
      const older = await admin.send(
        'GET',
        `/_cluster/state/version,metadata/${space}-*?expand_wildcards=all`,
      );
      let isBlocked = false;
      let isAsked = false;
      roles.leader.proxy.intercept(({ path }) => {
        if (isAsked || !/^\/_cluster\/state\/[^?]*metadata/.test(path)) return undefined;
        isAsked = isBlocked;
        return { status: 200, json: older };
      });
      const lift = await blocked('write')(fleet);
      isBlocked = true;
      return async () => {
        roles.leader.proxy.intercept(() => undefined);
        await lift();
      };
    },
    ...IS_BLOCKED,
  },
  {
    name: 'all indices are closed',
    make: async ({ admin, space }) => {
      const found = await admin.send('GET', `/${space}-api*?filter_path=*.aliases`);
      const names = Object.keys(found as object);
      // Elasticsearch accepts a URL of at most 4 KB. Varve may replace an index meanwhile.
      const each = (action: string) =>
        Promise.all(names.map((name) => admin.send('POST', `/${name}/${action}?ignore_unavailable=true`)));
      await each('_close');
      return () => each('_open');
    },
    ...IS_CLOSED,
    during: { all: { ...TAGS_REFUSED, countries: 503 } },
    writes: { tags: 'later', countries: 'later' },
  },
  {
    name: 'an index is deleted',
    make: sends(['DELETE', '/INDEX']),
    writes: { tags: 'later' },
    log: /does not exist any more/,
  },
  {
    // The new index exists for some seconds, and is empty.
    name: 'an index is deleted, and no document can be written',
    make: async (fleet, roles) => {
      // It throws while the index is made again. Then nothing may stay that would keep it empty.
      const index = await fleet.admin.liveIndex(aliasOf(fleet));
      const undo = await answers(only(isBulk, silent))(fleet, roles);
      await fleet.admin.send('DELETE', `/${index}`);
      return undo;
    },
    during: { all: TAGS_REFUSED },
    writes: { tags: 'later', countries: 'later' },
    says: /does not exist any more|cannot be reached|has no index/,
    state: /does not exist any more/,
    log: CHANGED,
    alerts: UNUSABLE,
    lasts: 4_000,
  },
  {
    name: 'an index is deleted, and an empty one gets its name',
    make: sends(['DELETE', '/INDEX'], ['PUT', '/INDEX']),
    writes: { tags: 'later' },
    log: CHANGED,
  },
  {
    name: 'all indices are deleted',
    make: async ({ admin, space }) => {
      await admin.deleteAll(space);
      return () => {};
    },
    writes: { tags: 'later', countries: 'later' },
    log: /does not exist any more/,
  },
  {
    name: 'an older copy of an index is restored',
    make: async ({ admin, ...fleet }) => {
      await admin.restore(await admin.liveIndex(aliasOf({ admin, ...fleet })));
      return () => {};
    },
    writes: { tags: 'later' },
    log: /was restored from a snapshot/,
    unnoticedFor: NOTICED_MS,
    prepare: ({ admin }) => admin.snapshot(),
  },
  {
    name: 'an older copy of all indices is restored, with the progress',
    make: async ({ admin, space }) => {
      await admin.restore(`${space}-*`);
      return () => {};
    },
    writes: { tags: 'later', countries: 'later' },
    log: /was restored from a snapshot/,
    unnoticedFor: NOTICED_MS,
    prepare: ({ admin }) => admin.snapshot(),
  },
  {
    name: 'an alias is moved to the index of another type',
    make: onTags(async (fleet, index) => {
      const [alias, other] = [aliasOf(fleet), await fleet.admin.liveIndex(aliasOf(fleet, 'chef'))];
      const actions = [{ remove: { index, alias } }, { add: { index: other, alias } }];
      await fleet.admin.send('POST', '/_aliases', { actions });
      return undefined;
    }),
    writes: { tags: 'later' },
    log: /aliases were moved: they are moved back/,
  },
  {
    name: 'an alias is removed',
    make: onTags(async (fleet, index) => {
      await fleet.admin.send('DELETE', `/${index}/_alias/${aliasOf(fleet)}`);
      return undefined;
    }),
    writes: { tags: 'later' },
    log: /aliases were moved: they are moved back/,
  },
  {
    name: 'an alias names two indices',
    make: onTags(async (fleet) => {
      const index = await fleet.admin.liveIndex(aliasOf(fleet, 'chef'));
      await fleet.admin.send('PUT', `/${index}/_alias/${aliasOf(fleet)}`);
      return undefined;
    }),
    writes: { tags: 'later' },
    log: /aliases were moved: they are moved back/,
  },
  {
    name: 'the mapping of an index is changed',
    make: sends(['PUT', '/INDEX/_mapping', { properties: { foreign: { type: 'keyword' } } }]),
    writes: { tags: 'later' },
    log: /the mapping of its index .* was changed/,
  },
  {
    name: 'the index of the progress is deleted',
    make: async ({ admin, space }) => {
      await admin.send('DELETE', `/${space}-progress`);
      return () => {};
    },
    writes: { tags: 'later', countries: 'later' },
    log: /the index of the progress was removed or replaced/,
  },
  {
    name: 'an index gets replicas that no node can have',
    make: onTags(async ({ admin, nodes }, index) => {
      const set = (settings: object) => admin.send('PUT', `/${index}/_settings`, settings);
      const replicas = Math.max(1, nodes.length);
      await set({ 'index.auto_expand_replicas': false, 'index.number_of_replicas': replicas });
      return () => set({ 'index.auto_expand_replicas': '0-1' });
    }),
    during: { all: { conditions: ['index-not-green'] } },
    state: /1 copies of shards have no node/,
    log: /index-not-green/,
  },
  {
    name: 'the pages of an index are limited',
    make: onTags(async ({ admin }, index) => {
      const set = (value: number | null) =>
        admin.send('PUT', `/${index}/_settings`, { 'index.max_result_window': value });
      await set(1);
      return () => set(null);
    }),
    during: { all: { tags: 503 } },
    writes: { tags: 'later' },
    log: /max_result_window/,
  },
  {
    name: 'searches of an index are not refreshed by Elasticsearch itself',
    make: onTags(async ({ admin }, index) => {
      await admin.send('PUT', `/${index}/_settings`, { 'index.refresh_interval': '-1' });
      return () => admin.send('PUT', `/${index}/_settings`, { 'index.refresh_interval': null });
    }),
    during: {},
  },
];
