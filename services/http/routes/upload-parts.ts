import type { Multipart } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { RequestError } from '../../../shared/request-error.ts';
import type { UploadPart } from '../../assets/receive-upload.ts';

/** Strapi has no limits here; these keep a form that is made to hurt from growing. */
const LIMITS = { fields: 200, files: 100, parts: 300, fieldSize: 1_048_576, headerPairs: 100 };

/**
 * The parts of a multipart request. Every way in which the form itself can be bad or break off is a RequestError, 400 or 413. The asset
 * store counts a file's bytes: the parser's own limit would cut a file short without a word.
 */
export async function* uploadParts(request: FastifyRequest): AsyncGenerator<UploadPart> {
  try {
    for await (const part of request.parts({ limits: { ...LIMITS, fileSize: Number.POSITIVE_INFINITY } })) {
      yield uploadPart(part);
    }
    // A form may end before the body does. The rest has to be read to know whether the body is complete.
    readToTheEnd(request);
    await request.receivedWhole?.();
  } catch (error) {
    throw formError(error);
  } finally {
    // A body that was refused halfway is read to its end, so that the client gets the answer.
    readToTheEnd(request);
  }
}

function readToTheEnd({ raw }: FastifyRequest): void {
  raw.unpipe();
  raw.resume();
}

function uploadPart(part: Multipart): UploadPart {
  if (part.type === 'file') {
    return { kind: 'file', name: part.fieldname, fileName: part.filename, content: readContent(part.file) };
  }
  if (part.valueTruncated) {
    throw new RequestError('payload-too-large', `The field ${part.fieldname} is too long`, {
      path: part.fieldname,
      accepted: `at most ${LIMITS.fieldSize} bytes`,
    });
  }
  return { kind: 'field', name: part.fieldname, value: part.value };
}

async function* readContent(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* content;
  } catch (error) {
    throw formError(error);
  }
}

/** The parser's errors carry a status from 400 to 499, or are plain ones about the form's syntax; both are the client's. */
function formError(error: unknown): Error {
  if (error instanceof RequestError || !(error instanceof Error)) return error as Error;
  const tooLarge = (error as { statusCode?: unknown }).statusCode === 413;
  return tooLarge
    ? new RequestError('payload-too-large', error.message, { accepted: LIMITS })
    : new RequestError('malformed-request', `The form cannot be read: ${error.message}`);
}
