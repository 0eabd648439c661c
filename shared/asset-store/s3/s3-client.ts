import { Readable } from 'node:stream';
import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { defined } from '../../defined.ts';
import { RequestError } from '../../request-error.ts';
import type { S3Location } from './s3-location.ts';
import { untilSilent } from './s3-silent-body.ts';

/** A bucket, and the prefix of all keys in it. */
export type S3Target = { readonly client: S3Client; readonly bucket: string; readonly prefix: string };

/** Long enough for one part of an upload on a slow line, and for a copy inside the store. */
const REQUEST_TIMEOUT_MS = 60_000;
/** Milliseconds of silence after which a store counts as not answering, also in the middle of an answer. */
const SILENCE_MS = 10_000;
/** Option for small requests with small answers: the store must begin its answer within this time. */
export const PROMPTLY = { requestTimeout: SILENCE_MS } as const;
const CONNECTION_TIMEOUT_MS = 5_000;
/** Maximum connections. A download occupies a connection until its reader has finished. */
const CONNECTIONS = 512;

/**
 * Creates the client. The SDK finds credentials: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the file that AWS_SHARED_CREDENTIALS_FILE
 * names, or a role of the machine or pod.
 */
export function createS3Client({ endpoint, region, pathStyle }: S3Location): S3Client {
  const client = new S3Client({
    ...defined({ endpoint, region }),
    forcePathStyle: pathStyle,
    // Some stores do not understand the SDK's own checksums. Content is identified by its SHA-256 anyway.
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
  client.middlewareStack.add(onceIfSilent, {
    step: 'finalizeRequest',
    priority: 'low',
    name: 'onceIfSilent',
  });
  client.middlewareStack.add(toTheEnd, { step: 'deserialize', priority: 'low', name: 'toTheEnd' });
  return client;
}

/** Prevents the SDK from retrying a request that the store did not answer in time. The caller has waited long enough. */
function onceIfSilent<Args, Output>(next: (args: Args) => Promise<Output>): (args: Args) => Promise<Output> {
  return (args) =>
    next(args).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ETIMEDOUT') throw error;
      // The error has no cause, because the SDK would find the timeout there and retry.
      throw new Error(`the store gives no answer: ${error.message}`);
    });
}

/** Extends the time limit to the end of an answer. The SDK's limits end when an answer begins. */
function toTheEnd<Args, Output extends { readonly response: unknown }>(
  next: (args: Args) => Promise<Output>,
): (args: Args) => Promise<Output> {
  return async (args) => {
    const output = await next(args);
    const response = output.response as { body?: unknown };
    if (response.body instanceof Readable) response.body = untilSilent(response.body, SILENCE_MS, brokenOff);
    return output;
  };
}

function brokenOff(): unknown {
  return presentS3Error(new Error('the store closed the connection in the middle of an answer'));
}

/** Error of the SDK. `$metadata` has the status of the answer, if there was one. */
type SdkError = Error & { readonly $metadata?: { readonly httpStatusCode?: number } };

/** Returns a 503 for the error of a store that is unreachable or too busy. Returns other errors unchanged. */
export function presentS3Error(error: unknown): unknown {
  const status = statusOf(error);
  if (status !== undefined && status !== 429 && status < 500) return error;
  const message = 'The asset store cannot be reached right now';
  return new RequestError('asset-store-unavailable', message, {}, { cause: error });
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
    if (statusOf(error) === 404) return undefined;
    throw presentS3Error(error);
  }
}

/** Returns the text of an object; undefined if it does not exist. */
export async function readS3Text({ client, bucket }: S3Target, key: string): Promise<string | undefined> {
  const call = client.send(new GetObjectCommand({ Bucket: bucket, Key: key }), PROMPTLY);
  return (await readingFromS3(call))?.Body?.transformToString();
}

/** Writes a small object. Its time is that of the last call. */
export async function writeS3Object(target: S3Target, Key: string, Body: string): Promise<void> {
  const { client, bucket: Bucket } = target;
  await writingToS3(client.send(new PutObjectCommand({ Bucket, Key, Body }), PROMPTLY));
}

/** Removes an object. Succeeds if there is none: some stores answer 404 then. */
export async function removeS3Object({ client, bucket: Bucket }: S3Target, Key: string): Promise<void> {
  await readingFromS3(client.send(new DeleteObjectCommand({ Bucket, Key }), PROMPTLY));
}

/** Returns the result of a call that has to succeed. */
export async function writingToS3<Result>(call: Promise<Result>): Promise<Result> {
  try {
    return await call;
  } catch (error) {
    throw presentS3Error(error);
  }
}
