import { createEmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import { createBruteForceReadIndex } from '../support/brute-force-read-index.ts';
import { describeReadIndexContract } from './read-index-contract.ts';

describeReadIndexContract('embedded', async (registry) => createEmbeddedIndex({ registry }));
// The reference of the property tests must pass the contract too. It has no searches by words: see support/naive-text-search.ts.
describeReadIndexContract('brute force', async (registry) => createBruteForceReadIndex(registry), {
  words: false,
});
