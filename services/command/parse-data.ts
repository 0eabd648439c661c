import { isRecord } from '../../shared/json-record.ts';
import type { RequestError } from '../../shared/request-error.ts';
import { typeMessage } from './describe-value.ts';
import { problemsError, validationError } from './problem.ts';

/** An object of a JSON body. */
export type Data = { readonly [key: string]: unknown };

/** Returns the `data` of a body `{"data": {…}}`: an object or, for Strapi's message, an array. Throws 400. */
export function parseDataPayload(body: unknown): Data | readonly unknown[] {
  const data = isRecord(body) ? body['data'] : undefined;
  if (typeof data !== 'object' || data === null) {
    throw validationError('Missing "data" payload in the request body');
  }
  return data as Data | readonly unknown[];
}

/** Returns the objects in the payload, also in a list. Their keys are checked first. */
export function objectsIn(payload: Data | readonly unknown[]): readonly Data[] {
  return [payload as unknown].flat().filter(isRecord);
}

/** Creates a 400 for an array: a body writes one entry (case `write.body-004`). */
export function listError(data: readonly unknown[]): RequestError {
  // At this step Strapi has already converted all other values to objects.
  const items = data.map((item: unknown) => (typeof item === 'object' && item !== null ? item : {}));
  return problemsError([{ path: '', message: typeMessage('', 'object', null, items), value: null }]);
}
