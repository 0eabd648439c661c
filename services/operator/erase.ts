import { NotLeading } from '../command/not-leading.ts';
import { ERASE_FORM } from '../erasure/erase-documents.ts';
import { defineOperation } from './operation.ts';

/** Erases documents for good. Answers with one line: what was erased, or without `confirm` what would be. */
export const eraseOperation = defineOperation({
  form: ERASE_FORM,
  writes: true,
  async *run({ erase }, request) {
    if (erase === undefined)
      throw new Error('no server runs on the data directory: start it, then run the command again');
    yield await erase(request).catch(refuseElsewhere);
  },
});

function refuseElsewhere(error: unknown): never {
  if (!(error instanceof NotLeading)) throw error;
  throw new Error('this server is not the leader: run the command on the data directory of the leader');
}
