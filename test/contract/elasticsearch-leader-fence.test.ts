import type { Client } from '@elastic/elasticsearch';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createLeaderFence,
  fenceActions,
  isLeaderFenced,
  type LeaderFence,
} from '../../shared/read-index/elasticsearch/indices/leader-fence.ts';
import { createElasticsearchClient } from '../../shared/read-index/elasticsearch/wire/client.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { removeIndices } from '../support/remove-indices.ts';

/** A fence in the cluster decides which leader may move aliases. */
const space = `fence_${process.pid}`;
const index = `${space}-thing`;
const alias = `${space}-live`;
const isLeader = async () => true;

describe('the fence of leaders', await needsElasticsearch(), () => {
  let url: string;
  let client: Client;
  let fence: LeaderFence;
  beforeAll(async () => {
    url = await elasticsearchUrl();
    client = createElasticsearchClient({ url });
    fence = createLeaderFence(client, space);
    await client.indices.create({ index });
  }, 180_000);
  afterAll(async () => {
    await client?.close();
    if (url !== undefined) await removeIndices(url, space);
  });

  /** Moves the alias of searches to the index as a leader of this epoch. Returns false if the fence refuses it. */
  const promote = async (epoch: number): Promise<boolean> => {
    try {
      await client.indices.updateAliases({
        actions: [...fenceActions(space, epoch), { add: { index, alias } }],
      });
      return true;
    } catch (error) {
      expect(isLeaderFenced(error)).toBe(true);
      return false;
    }
  };
  const isLive = () => client.indices.existsAlias({ name: alias });

  it('refuses the whole call of a leader that has not raised the fence', async () => {
    expect(await fence.newest()).toBe(0);
    expect(await fence.raise(2, isLeader)).toBe(true);
    expect(await promote(3)).toBe(false);
    expect(await isLive()).toBe(false);
  });

  it('lets only the leader that raised the fence last move aliases, any number of times', async () => {
    expect(await fence.raise(3, isLeader)).toBe(true);
    expect([await promote(3), await promote(3)]).toEqual([true, true]);
    expect(await fence.raise(4, isLeader)).toBe(true);
    expect([await promote(3), await promote(4)]).toEqual([false, true]);
    expect(await fence.newest()).toBe(4);
  });

  it('is not raised by a process that is no longer the leader in the log', async () => {
    expect(await fence.raise(3, async () => false)).toBe(false);
    expect(await promote(4)).toBe(true);
  });

  it('accepts one of several leaders that raise it at the same time', async () => {
    const epochs = [5, 6, 7, 8];
    await Promise.all(epochs.map((epoch) => fence.raise(epoch, isLeader)));
    const newest = await fence.newest();
    const allowed: number[] = [];
    for (const epoch of epochs) if (await promote(epoch)) allowed.push(epoch);
    expect(allowed).toEqual([newest]);
  });

  it('is raised by the leader of a restored log, whose epochs are lower', async () => {
    expect(await fence.raise(2, isLeader)).toBe(true);
    expect([await promote(8), await promote(2)]).toEqual([false, true]);
  });
});
