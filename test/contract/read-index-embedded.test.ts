import { createEmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import { createBruteForceReadIndex } from '../support/brute-force-read-index.ts';
import { describeReadIndexContract } from './read-index-contract.ts';

describeReadIndexContract('embedded', async (registry) => createEmbeddedIndex({ registry }));
// The yardstick of the property tests is held to the contract too. Searches have another one: support/naive-text-search.ts.
describeReadIndexContract('brute force', async (registry) => createBruteForceReadIndex(registry), {
  words: false,
});
