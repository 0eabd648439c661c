import { S3Client } from '@aws-sdk/client-s3';
import { defined } from '../../defined.ts';
import { RequestError } from '../../request-error.ts';
import type { S3Location } from './s3-location.ts';

/** A bucket, and the prefix of all keys in it. */
export type S3Target = { readonly client: S3Client; readonly bucket: string; readonly prefix: string };

/** Long enough for one part of an upload on a slow line. */
const REQUEST_TIMEOUT_MS = 60_000;
const CONNECTION_TIMEOUT_MS = 5_000;
/** A download holds a connection until its reader has finished. */
const CONNECTIONS = 512;

/**
 * The SDK finds credentials: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the file that AWS_SHARED_CREDENTIALS_FILE
 * names, or a role of the machine or pod.
 */
export function createS3Client({ endpoint, region, pathStyle }: S3Location): S3Client {
  return new S3Client({
    ...defined({ endpoint, region }),
    forcePathStyle: pathStyle,
    // Checksums of the SDK's own are not understood by every store; content is known by its SHA-256 anyway.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
      httpAgent: { keepAlive: true, maxSockets: CONNECTIONS },
      httpsAgent: { keepAlive: true, maxSockets: CONNECTIONS },
    },
  });
}

/** Error of the SDK: `$metadata` has the status of the answer, if there was one. */
type SdkError = Error & { readonly $metadata?: { readonly httpStatusCode?: number } };

function isAbsent(error: unknown): boolean {
  return statusOf(error) === 404;
}

/** Turns the error of a store that is unreachable or too busy into a 503. Other errors stay as they are. */
export function presentS3Error(error: unknown): unknown {
  const status = statusOf(error);
  const passes = status === undefined || status === 429 || status >= 500;
  if (!passes) return error;
  return Object.assign(
    new RequestError('asset-store-unavailable', 'The asset store cannot be reached right now'),
    { cause: error },
  );
}

/** Returns the HTTP status of a failed call; undefined if no answer came. */
export function statusOf(error: unknown): number | undefined {
  return (error as SdkError).$metadata?.httpStatusCode;
}

/** Returns the result of a call; undefined if the object does not exist. */
export async function readingFromS3<Result>(call: Promise<Result>): Promise<Result | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw presentS3Error(error);
  }
}
