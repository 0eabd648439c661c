import { isRecord } from '../../shared/json-record.ts';
import { typeMessage } from './describe-value.ts';
import { problemsError, validationError } from './problem.ts';

/** An object of a JSON body. */
export type Data = { readonly [key: string]: unknown };

/** The `data` of a body `{"data": {…}}`: an object or, for Strapi's message, an array. Throws 400. */
export function parseDataPayload(body: unknown): Data | readonly unknown[] {
  const data = isRecord(body) ? body['data'] : undefined;
  if (typeof data !== 'object' || data === null) {
    throw validationError('Missing "data" payload in the request body');
  }
  return data as Data | readonly unknown[];
}

/** The objects among what the payload has: their keys are checked first, also in a list. */
export function objectsIn(payload: Data | readonly unknown[]): readonly Data[] {
  return [payload as unknown].flat().filter(isRecord);
}

/** Throws 400 for an array: a body writes one entry (case `write.body-004`). */
export function singleData(data: Data | readonly unknown[]): Data {
  if (!Array.isArray(data)) return data as Data;
  // Strapi has made objects of everything else by then.
  const items = data.map((item: unknown) => (typeof item === 'object' && item !== null ? item : {}));
  throw problemsError([{ path: '', message: typeMessage('', 'object', null, items), value: null }]);
}
