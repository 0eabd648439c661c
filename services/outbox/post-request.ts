import { type LookupAddress, lookup as resolveName } from 'node:dns';
import { type ClientRequest, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { retryAfterMs } from '../../shared/retry-after.ts';
import { untilAborted } from '../../shared/until-aborted.ts';
import { valueWithin } from '../../shared/value-within.ts';
import { isPrivateAddress } from './private-address.ts';

export type PostedRequest = {
  /** Default: POST. */
  readonly method?: 'POST' | 'PURGE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly allowPrivate: boolean;
  /** Milliseconds until the name is resolved and the whole answer has arrived. */
  readonly timeoutMs: number;
  /** Finds the addresses of a name. Default: the operating system. */
  readonly resolve?: ResolveAddresses;
  readonly signal?: AbortSignal;
};

export type ResolveAddresses = (name: string) => Promise<readonly LookupAddress[]>;

export type PostResult =
  | { readonly kind: 'answered'; readonly status: number; readonly retryAfterMs: number | undefined }
  /** Nothing was sent: the address is not allowed. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string };

/** Varve reads a reply up to this many bytes and discards it. */
const MAX_REPLY_BYTES = 65_536;

/**
 * Sends one POST on a connection of its own. Resolves the name once, checks the addresses and connects to these: no second resolution can
 * return another address. Redirects are not followed.
 */
export async function postRequest(post: PostedRequest): Promise<PostResult> {
  const url = new URL(post.url);
  const name = url.hostname.replace(/^\[|\]$/g, '');
  const started = performance.now();
  let addresses: readonly LookupAddress[] | undefined;
  try {
    addresses = await valueWithin(post.timeoutMs, addressesOf(post, name));
  } catch (error) {
    return { kind: 'failed', reason: `${name} cannot be resolved: ${(error as Error).message}` };
  }
  if (addresses === undefined) return tooLate(post);
  // Node would throw where nothing can catch it.
  if (addresses.length === 0) return { kind: 'failed', reason: `${name} has no address` };
  // One private address is enough to refuse, because chance decides which address is used.
  const wrong = addresses.find(({ address }) => !post.allowPrivate && isPrivateAddress(address));
  if (wrong !== undefined) {
    const what = wrong.address === name ? '' : `${wrong.address}, `;
    const reason = `${name} is ${what}a private address: pass --allow-private for this webhook to allow it`;
    return { kind: 'refused', reason };
  }
  return send(post, url, { addresses, leftMs: Math.max(0, post.timeoutMs - (performance.now() - started)) });
}

function tooLate({ timeoutMs }: PostedRequest): PostResult {
  return { kind: 'failed', reason: `no answer within ${timeoutMs} ms` };
}

/** Rejects if the signal is aborted, because the operating system has no time limit. */
async function addressesOf(
  { resolve = systemAddresses, signal }: PostedRequest,
  name: string,
): Promise<readonly LookupAddress[]> {
  if (isIP(name) !== 0) return [{ address: name, family: isIP(name) }];
  if (signal === undefined) return resolve(name);
  const found = await untilAborted(resolve(name), signal);
  signal.throwIfAborted();
  return found ?? [];
}

const systemAddresses: ResolveAddresses = (name) =>
  new Promise((resolve, reject) => {
    resolveName(name, { all: true }, (error, found) => (error ? reject(error) : resolve(found)));
  });

type Found = { readonly addresses: readonly LookupAddress[]; readonly leftMs: number };

function send(post: PostedRequest, url: URL, { addresses, leftMs }: Found): Promise<PostResult> {
  return new Promise((resolve) => {
    const body = Buffer.from(post.body);
    const start = url.protocol === 'https:' ? requestHttps : requestHttp;
    const pinned: LookupFunction = (_name, options, callback) => {
      const [first] = addresses;
      if (options.all === true) callback(null, [...addresses]);
      else callback(null, first?.address ?? '', first?.family ?? 4);
    };
    const request: ClientRequest = start(url, {
      method: post.method ?? 'POST',
      headers: { ...post.headers, 'content-length': String(body.length) },
      agent: false,
      lookup: pinned,
      ...(post.signal && { signal: post.signal }),
    });
    const end = (result: PostResult) => {
      clearTimeout(timer);
      resolve(result);
      request.destroy();
    };
    const timer = setTimeout(() => end(tooLate(post)), leftMs);
    request.on('error', (error) => end({ kind: 'failed', reason: error.message || error.name }));
    request.on('response', (response) => {
      let bytes = 0;
      const replied = () =>
        end({
          kind: 'answered',
          status: response.statusCode ?? 0,
          retryAfterMs: retryAfterMs(response.headers['retry-after'], Date.now()),
        });
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > MAX_REPLY_BYTES) replied();
      });
      response.on('end', replied);
      response.on('error', (error) => end({ kind: 'failed', reason: error.message }));
    });
    request.end(body);
  });
}
