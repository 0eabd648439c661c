import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A test double of an S3-compatible store, in memory. It has the part of the protocol that Varve uses, path style and one bucket. It
 * refuses unsigned requests but verifies no signature. It proves nothing about real stores.
 */
export type S3Double = {
  /** Value for `--assets`: `s3://assets/media?endpoint=…`. */
  readonly address: string;
  readonly endpoint: string;
  /** Keys of all objects, and of uploads that are not complete. */
  names(): readonly string[];
  /** Makes all objects and uploads so many milliseconds older. */
  age(ms: number): void;
  /** Sets the status of every later answer. undefined: answers are correct again. */
  failWith(status: number | undefined): void;
  /** Stops every later answer after this number of bytes of its body. The connection stays open. */
  breakOffAfter(bytes: number): void;
  /** Method and kind of each request so far. */
  readonly requests: string[];
  close(): Promise<void>;
};

export const S3_CREDENTIALS = { AWS_ACCESS_KEY_ID: 'double', AWS_SECRET_ACCESS_KEY: 'no secret' } as const;
const S3_BUCKET = 'assets';

export type S3DoubleOptions = {
  /** Largest number of bytes of one copy request. Larger copies are refused, as in the protocol. */
  readonly largestCopy?: number;
};

type StoredObject = { readonly bytes: Buffer; at: number };
type PartialUpload = { readonly key: string; readonly parts: Map<number, Buffer>; at: number };
type World = {
  readonly objects: Map<string, StoredObject>;
  readonly uploads: Map<string, PartialUpload>;
  readonly largestCopy: number;
};
type Call = {
  readonly key: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
};
type Answer = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
};
type Operation = (world: World, call: Call) => Answer;

const SMALLEST_PART = 5 * 1024 * 1024;

export async function startS3Double(options: S3DoubleOptions = {}): Promise<S3Double> {
  const world: World = {
    objects: new Map(),
    uploads: new Map(),
    largestCopy: options.largestCopy ?? 5 * 1024 ** 3,
  };
  const requests: string[] = [];
  let failure: number | undefined;
  let most = Number.POSITIVE_INFINITY;
  const server = createServer((request, response) => {
    void answer(world, request, (name) => requests.push(name), failure).then((answered) =>
      send(request, response, answered, most),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    address: `s3://${S3_BUCKET}/media?endpoint=${endpoint}`,
    endpoint,
    requests,
    names: () => [...world.objects.keys(), ...[...world.uploads.values()].map(({ key }) => key)],
    age(ms) {
      for (const each of [...world.objects.values(), ...world.uploads.values()]) each.at -= ms;
    },
    failWith(status) {
      failure = status;
    },
    breakOffAfter(bytes) {
      most = bytes;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function answer(
  world: World,
  request: IncomingMessage,
  saw: (name: string) => void,
  failure: number | undefined,
): Promise<Answer> {
  const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>));
  const { headers, method = '' } = request;
  if (failure !== undefined) return refuse(failure, 'Failure');
  if (!/^AWS4-HMAC-SHA256 Credential=/.test(headers.authorization ?? '')) return refuse(403, 'AccessDenied');
  // Many stores of other vendors do not support the aws-chunked bodies of Amazon's SDK.
  if (headers['content-encoding']?.includes('aws-chunked')) return refuse(501, 'NotImplemented');
  const url = new URL(request.url ?? '', 'http://double');
  const [, bucket = '', ...path] = url.pathname.split('/').map(decodeURIComponent);
  if (bucket !== S3_BUCKET) return refuse(404, 'NoSuchBucket');
  const key = path.join('/');
  const name = operationName(method, key, url.searchParams, headers);
  saw(name);
  const operation = OPERATIONS[name];
  return operation === undefined
    ? refuse(501, 'NotImplemented')
    : operation(world, { key, query: url.searchParams, headers, body });
}

function operationName(
  method: string,
  key: string,
  query: URLSearchParams,
  headers: IncomingMessage['headers'],
): string {
  const copies = headers['x-amz-copy-source'] === undefined ? '' : ' copy';
  if (key === '') return `${method} bucket${query.has('uploads') ? ' uploads' : ''}`;
  if (query.has('uploads')) return `${method} uploads`;
  return `${method} ${query.has('uploadId') ? 'part' : 'object'}${copies}`;
}

const OPERATIONS: Readonly<Record<string, Operation>> = {
  'HEAD bucket': () => ({ status: 200 }),
  'GET bucket': (world, { query }) => listObjects(world, query.get('prefix') ?? ''),
  'GET bucket uploads': (world, { query }) => listUploads(world, query.get('prefix') ?? ''),
  'PUT object': (world, { key, body }) => put(world, key, body),
  'PUT object copy': (world, call) => {
    const source = sourceOf(world, call);
    if (source === undefined) return refuse(404, 'NoSuchKey');
    if (source.length > world.largestCopy) return refuse(400, 'InvalidRequest');
    put(world, call.key, source);
    return xml(200, `<CopyObjectResult><ETag>${tagOf(source)}</ETag></CopyObjectResult>`);
  },
  'HEAD object': (world, { key }) => read(world, key, undefined),
  'GET object': (world, { key, headers }) => read(world, key, headers.range),
  'DELETE object': (world, { key }) => {
    world.objects.delete(key);
    return { status: 204 };
  },
  'POST uploads': (world, { key }) => {
    const id = randomUUID();
    world.uploads.set(id, { key, parts: new Map(), at: Date.now() });
    return xml(
      200,
      `<InitiateMultipartUploadResult><Bucket>${S3_BUCKET}</Bucket><Key>${key}</Key><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
    );
  },
  'PUT part': (world, { query, body }) => putPart(world, query, body),
  'PUT part copy': (world, call) => {
    const source = sourceOf(world, call);
    const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(String(call.headers['x-amz-copy-source-range'])) ?? [];
    if (source === undefined || start === undefined) return refuse(404, 'NoSuchKey');
    const part = source.subarray(Number(start), Number(end) + 1);
    if (part.length > world.largestCopy) return refuse(400, 'InvalidRequest');
    const { status } = putPart(world, call.query, part);
    return status === 200
      ? xml(200, `<CopyPartResult><ETag>${tagOf(part)}</ETag></CopyPartResult>`)
      : refuse(404, 'NoSuchUpload');
  },
  'POST part': complete,
  'DELETE part': (world, { query }) => ({
    status: world.uploads.delete(query.get('uploadId') ?? '') ? 204 : 404,
  }),
};

function put(world: World, key: string, bytes: Buffer): Answer {
  world.objects.set(key, { bytes, at: Date.now() });
  return { status: 200, headers: { etag: tagOf(bytes) } };
}

function putPart(world: World, query: URLSearchParams, bytes: Buffer): Answer {
  const upload = world.uploads.get(query.get('uploadId') ?? '');
  if (upload === undefined) return refuse(404, 'NoSuchUpload');
  upload.parts.set(Number(query.get('partNumber')), bytes);
  return { status: 200, headers: { etag: tagOf(bytes) } };
}

function complete(world: World, { query, body }: Call): Answer {
  const id = query.get('uploadId') ?? '';
  const upload = world.uploads.get(id);
  if (upload === undefined) return refuse(404, 'NoSuchUpload');
  const numbers = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber>/g)].map(([, n]) => Number(n));
  const parts = numbers.map((number) => upload.parts.get(number));
  if (parts.some((part) => part === undefined)) return refuse(400, 'InvalidPart');
  const bytes = parts as Buffer[];
  // Parts of a copy may be as small as the double's limit for copies.
  const smallest = Math.min(SMALLEST_PART, world.largestCopy);
  if (bytes.slice(0, -1).some(({ length }) => length < smallest)) return refuse(400, 'EntityTooSmall');
  world.uploads.delete(id);
  put(world, upload.key, Buffer.concat(bytes));
  return xml(200, `<CompleteMultipartUploadResult><Key>${upload.key}</Key></CompleteMultipartUploadResult>`);
}

function read(world: World, key: string, range: string | undefined): Answer {
  const object = world.objects.get(key);
  if (object === undefined) return refuse(404, 'NoSuchKey');
  const { bytes } = object;
  const headers = { etag: tagOf(bytes), 'accept-ranges': 'bytes' };
  if (range === undefined) return { status: 200, headers, body: bytes };
  const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(range) ?? [];
  if (start === undefined || Number(start) >= bytes.length) return refuse(416, 'InvalidRange');
  const body = bytes.subarray(Number(start), Number(end) + 1);
  const last = Number(start) + body.length - 1;
  return {
    status: 206,
    headers: { ...headers, 'content-range': `bytes ${start}-${last}/${bytes.length}` },
    body,
  };
}

function listObjects({ objects }: World, prefix: string): Answer {
  const contents = [...objects]
    .filter(([key]) => key.startsWith(prefix))
    .map(([key, { at }]) => `<Contents><Key>${key}</Key><LastModified>${time(at)}</LastModified></Contents>`);
  return xml(
    200,
    `<ListBucketResult><IsTruncated>false</IsTruncated>${contents.join('')}</ListBucketResult>`,
  );
}

function listUploads({ uploads }: World, prefix: string): Answer {
  const each = [...uploads]
    .filter(([, { key }]) => key.startsWith(prefix))
    .map(
      ([id, { key, at }]) =>
        `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${time(at)}</Initiated></Upload>`,
    );
  return xml(200, `<ListMultipartUploadsResult>${each.join('')}</ListMultipartUploadsResult>`);
}

function sourceOf({ objects }: World, { headers }: Call): Buffer | undefined {
  const source = decodeURIComponent(String(headers['x-amz-copy-source']));
  return objects.get(source.replace(new RegExp(`^/?${S3_BUCKET}/`), ''))?.bytes;
}

function tagOf(bytes: Buffer): string {
  return `"${createHash('md5').update(bytes).digest('hex')}"`;
}

function time(at: number): string {
  return new Date(at).toISOString();
}

function xml(status: number, body: string): Answer {
  return {
    status,
    headers: { 'content-type': 'application/xml' },
    body: `<?xml version="1.0" encoding="UTF-8"?>${body}`,
  };
}

function refuse(status: number, code: string): Answer {
  return xml(status, `<Error><Code>${code}</Code><Message>${code}</Message></Error>`);
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body = '' }: Answer,
  most: number,
): void {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  if (request.method === 'HEAD') response.end();
  else if (body.length > most) response.write(body.slice(0, most));
  else response.end(body);
}
