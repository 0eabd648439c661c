import { expect, it } from 'vitest';
import { checkIndex } from '../../../services/state/watch-index.ts';
import type { ClusterHealth } from '../../../shared/read-index/cluster-health.ts';
import type { IndexFault } from '../../../shared/read-index/index-fault.ts';

const GREEN: ClusterHealth = {
  status: 'green',
  nodes: 1,
  unassignedShards: 0,
  missing: [],
  red: [],
  hasWhole: true,
};
const since = '2026-01-01T00:00:00.000Z';
const CLOSED = { kind: 'closed', reason: 'its index is closed', since, refusesReads: true } as const;

/** Checks a cluster of two content types. */
function check(health: Partial<ClusterHealth>, faults: readonly IndexFault[] = [], answersReads = true) {
  const watch = { address: 'http://es:9200', health: async () => ({ ...GREEN, ...health }) };
  return checkIndex({ watch, faults: async () => faults, types: 2 }, answersReads)();
}

it('finds nothing while all indices can be used', async () => {
  expect(await check({}, [{ ...CLOSED, type: 'api::a.a', refusesReads: false }])).toBeUndefined();
});

it('names content types whose reads are refused, and is not ready when all are', async () => {
  const first = { ...CLOSED, type: 'api::a.a' };
  expect(await check({ missing: ['x'] }, [first])).toEqual({
    code: 'index-unusable',
    message: 'Reads of api::a.a are answered with 503: its index is closed',
    isUnready: false,
  });
  const both = [first, { ...CLOSED, type: 'api::b.b' }];
  expect(await check({}, both)).toEqual({
    code: 'index-unusable',
    message: 'Reads of api::a.a and 1 more are answered with 503: its index is closed',
    isUnready: true,
  });
  expect(await check({}, both, false)).toMatchObject({ isUnready: false });
});

it('names indices that are missing or red although no leader has found them', async () => {
  expect(await check({ missing: ['a', 'b', 'c', 'd', 'e'] })).toEqual({
    code: 'index-unusable',
    message: 'Elasticsearch at http://es:9200 has no index a, b, c and 2 others',
    isUnready: false,
  });
  expect(await check({ status: 'red', red: ['a'], hasWhole: false })).toEqual({
    code: 'index-unusable',
    message: 'Elasticsearch at http://es:9200 has lost a shard of a',
    isUnready: true,
  });
});

it('finds an index without replicas, and one without documents that no search needs', async () => {
  for (const status of ['yellow', 'red'] as const)
    expect(await check({ status, unassignedShards: 2 })).toEqual({
      code: 'index-not-green',
      message: `Elasticsearch at http://es:9200 is ${status}: 2 copies of shards have no node`,
    });
});

it('says whether the cluster is away or refuses its user, with the right that is missing', async () => {
  const failing = (error: Error) => {
    const watch = { address: 'http://es:9200', health: () => Promise.reject(error) };
    return checkIndex({ watch, faults: async () => [], types: 2 }, true)();
  };
  const reason = 'action [cluster:monitor/health] is unauthorized for user [varve]';
  const refusal = Object.assign(new Error(`security_exception\n\tRoot causes:\n\t\t${reason}`), {
    statusCode: 403,
  });
  expect(await failing(refusal)).toEqual({
    code: 'read-index-unreachable',
    message: `Elasticsearch at http://es:9200 refuses its user: security_exception Root causes: ${reason}`,
    isUnready: true,
  });
  expect(await failing(new Error('connect ECONNREFUSED'))).toMatchObject({
    message: 'Elasticsearch at http://es:9200 does not answer: connect ECONNREFUSED',
  });
});
