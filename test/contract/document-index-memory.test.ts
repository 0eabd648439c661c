import type { WriteOutcome } from '../../shared/read-index/document-index.ts';
import { createMemoryDocumentIndex } from '../support/memory-document-index.ts';
import { describeDocumentIndexContract } from './document-index-contract.ts';

describeDocumentIndexContract('in memory, for tests', async () => {
  const index = createMemoryDocumentIndex(({ type, key }, neighbours) => {
    const row = neighbours.row(type, key);
    return row && Buffer.from(row.source).toString();
  });
  let isBlocked = false;
  let refuses = false;
  const outcome = (_: string, text: string): WriteOutcome | undefined => {
    if (isBlocked) return { kind: 'again', reason: 'blocked' };
    const isWrong = refuses && text !== '' && typeof JSON.parse(text).size !== 'number';
    return isWrong ? { kind: 'refused', reason: 'size is not a number' } : undefined;
  };
  index.behave({ outcome, accepts: () => !isBlocked });
  return {
    index,
    found: async () =>
      Object.fromEntries(
        [...index.visible].map(([name, text]) => [name.split(' ').at(-1) ?? '', JSON.parse(text)]),
      ),
    async block() {
      isBlocked = true;
      return async () => {
        isBlocked = false;
      };
    },
    refuseWrongSizes() {
      refuses = true;
    },
    close: async () => {},
  };
});
