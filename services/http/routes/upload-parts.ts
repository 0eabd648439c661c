import type { Multipart } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { RequestError } from '../../../shared/request-error.ts';
import type { UploadPart } from '../../assets/receive-upload.ts';

/** Limits of a form, against attacks. Strapi has none. */
const LIMITS = { fields: 200, files: 100, parts: 300, fieldSize: 1_048_576, headerPairs: 100 };

/**
 * Yields the parts of a multipart request. Throws RequestError (400 or 413) if the form is wrong or incomplete. The asset store counts the
 * bytes of a file, because the parser's limit would cut a file silently.
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
    // The rest of a refused body is read too, so that the client gets the answer.
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

/** Converts an error of the parser. It has a status from 400 to 499, or is about the syntax of the form: both are the client's mistakes. */
function formError(error: unknown): Error {
  if (error instanceof RequestError || !(error instanceof Error)) return error as Error;
  const tooLarge = (error as { statusCode?: unknown }).statusCode === 413;
  return tooLarge
    ? new RequestError('payload-too-large', error.message, { accepted: LIMITS })
    : new RequestError('malformed-request', `The form cannot be read: ${error.message}`);
}
