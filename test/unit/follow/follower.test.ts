import { expect, it, onTestFinished } from 'vitest';
import { NotLeading } from '../../../services/command/not-leading.ts';
import {
  createFollower,
  type FollowerOptions,
  type FollowReport,
} from '../../../services/follow/follower.ts';
import type { Reconciliation } from '../../../services/follow/reconcile.ts';
import { createCondition } from '../../../shared/condition.ts';
import type { DocumentName } from '../../../shared/document/recorded-rows.ts';

const nameOf = (documentId: string): DocumentName => ({ type: 'api::dish.dish', documentId });

/** Starts a follower. Its looks for new documents at the source wait until the test answers them. */
function startFollower() {
  const changed = createCondition();
  const looks: PromiseWithResolvers<readonly DocumentName[]>[] = [];
  const written: string[] = [];
  const reports: FollowReport[] = [];
  let isLeading = true;
  let terms = 0;
  const reconciliation: FollowerOptions['reconciliation'] = ({ sync }): Reconciliation => ({
    async newest() {
      const look = Promise.withResolvers<readonly DocumentName[]>();
      looks.push(look);
      changed.check();
      await sync(await look.promise);
    },
    everything: async () => {},
  });
  const follower = createFollower({
    reconciliation,
    writer: {
      stuck: () => [],
      async write(names) {
        written.push(...names.map(({ documentId }) => documentId));
        changed.check();
        return names.length;
      },
    },
    async begin() {
      terms++;
    },
    firstCopy: { phase: () => 'done', enter: () => {} },
    requests: () => 0,
    isLeading: () => isLeading,
    async leadChanged(ms) {
      const before = isLeading;
      await changed.until(() => isLeading !== before, ms);
    },
    intervalMs: 3_600_000,
    rate: 1_000,
    report: (what) => void reports.push(what),
  });
  onTestFinished(async () => {
    for (const look of looks) look.resolve([]);
    await follower.close();
  });
  return {
    follower,
    written,
    reports,
    looked: () => changed.until(() => looks.length > 0),
    /** Answers the oldest waiting look with these documents. */
    find: (...names: readonly DocumentName[]) => looks.shift()?.resolve(names),
    wrote: (documentId: string) => changed.until(() => written.includes(documentId)),
    lead(now: boolean) {
      isLeading = now;
      changed.check();
    },
    roleIs: (role: string) => expect.poll(() => follower.state.status().role).toBe(role),
    terms: () => terms,
  };
}

it('follows again in a second term, even if an answer to the first term arrives after its end', async () => {
  const { follower, lead, looked, find, wrote, written, roleIs } = startFollower();
  await looked();
  lead(false);
  await expect
    .poll(() => follower.sync([nameOf('early')]).catch((error) => error))
    .toBeInstanceOf(NotLeading);
  find(nameOf('late'));
  await roleIs('standby');
  lead(true);
  await looked();
  find(nameOf('again'));
  await wrote('again');
  expect(written).toEqual(['again']);
});

it('follows again in a second term while the source does not answer the request of the first one', async () => {
  const { lead, looked, find, wrote, written, roleIs, terms } = startFollower();
  await looked();
  lead(false);
  await roleIs('standby');
  lead(true);
  await expect.poll(terms).toBe(2);
  find(nameOf('late'));
  await looked();
  find(nameOf('again'));
  await wrote('again');
  expect(written).toEqual(['again']);
});

it('closes while the source does not answer a request', async () => {
  const { follower, looked } = startFollower();
  await looked();
  await follower.close();
  await expect(follower.sync([nameOf('late')])).rejects.toBeInstanceOf(NotLeading);
});
