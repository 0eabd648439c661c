import { ERASE_FORM } from '../erasure/erase-documents.ts';
import { defineOperation } from './operation.ts';
import { NO_SERVER, refuseElsewhere } from './refuse-elsewhere.ts';

/** Erases documents for good. Answers with one line: what was erased, or without `confirm` what would be. */
export const eraseOperation = defineOperation({
  form: ERASE_FORM,
  writes: true,
  async *run({ erase }, request) {
    if (erase === undefined) throw new Error(NO_SERVER);
    yield await erase(request).catch(refuseElsewhere);
  },
});
