import { RequestError } from '../../request-error.ts';

const FULL = ['ENOSPC', 'EDQUOT'];
const NO_HANDLES = ['EMFILE', 'ENFILE'];

/** Turns temporary failures (disk full, too many open files) into a 503. Other errors stay as they are. */
export async function refuseTemporaryFailures<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (FULL.includes(code)) throw refusal('its disk is full', error);
    if (NO_HANDLES.includes(code)) throw refusal('too many files are open', error);
    throw error;
  }
}

function refusal(reason: string, cause: unknown): RequestError {
  const message = `The asset store cannot read or write files now: ${reason}`;
  return new RequestError('asset-store-unavailable', message, {}, { cause });
}
