import { expect, it } from 'vitest';
import { claimLease } from '../../services/fleet/claim-lease.ts';
import { readLease } from '../../services/fleet/lease-view.ts';
import { identifyLog } from '../../services/fleet/log-identity.ts';
import { forgetLostClaim, ownerStateOf, ownStore } from '../../services/stores/ownership.ts';
import type { OwnerStore, Owners } from '../../shared/owner-record.ts';
import { newCommandWorld, schemasOf } from './command-world.ts';

const SCHEMAS = schemasOf({ page: { attributes: { n: { type: 'integer' } } } });
const space = 'varve';

/** A log with a leader, and a store in memory. `beforeRead` runs at the beginning of the next read of the store. */
async function ownedWorld() {
  const { store: log } = await newCommandWorld(SCHEMAS);
  let owners: Owners = {};
  let beforeRead = async () => {};
  const store: OwnerStore = {
    async read() {
      const meanwhile = beforeRead;
      beforeRead = async () => {};
      await meanwhile();
      return owners;
    },
    async write(next) {
      owners = next;
    },
  };
  const options = { log, space, adopt: false };
  const owned = { name: 'the uploaded files', option: '--assets', store };
  const claim = async (owner: string) => {
    const claimant = {
      log,
      space,
      owner,
      address: 'http://127.0.0.1:9',
      now: () => new Date().toISOString(),
    };
    await claimLease(claimant, await readLease(log, space));
  };
  await identifyLog(log, space, false);
  await claim('first');
  return {
    ...{ owned, options, claim },
    owners: () => owners,
    /** Another process becomes the leader, and the owner of the store, while the next call looks at the store. */
    overtakeInNextRead(): void {
      beforeRead = async () => {
        await claim('second');
        expect(await ownStore(owned, options)).toBeUndefined();
      };
    },
  };
}

it('a store whose record is by the next leader of the same log is not that of another log', async () => {
  const { owned, options, owners, overtakeInNextRead } = await ownedWorld();
  expect(await ownStore(owned, options)).toBeUndefined();
  const before = owners();
  overtakeInNextRead();
  expect(await ownStore(owned, options)).toBeUndefined();
  expect(owners()).not.toEqual(before);
  overtakeInNextRead();
  expect(await ownerStateOf(owned, options)).toBe('sole');
  overtakeInNextRead();
  await forgetLostClaim(owned, options);
  const last = owners();
  expect(await ownStore(owned, options)).toBeUndefined();
  expect(owners()).toEqual(last);
});

it('a store whose record has a claim that the log lacks is that of another log', async () => {
  const { owned, options, owners } = await ownedWorld();
  await ownStore(owned, options);
  const { log } = owners()[space] as Owners[string];
  await owned.store.write({ [space]: { log, claim: 'of a copy' } });
  expect(await ownStore(owned, options)).toContain('another copy of this log');
  expect(await ownerStateOf(owned, options)).toBe('lost');
});
