import type { PostedRequest } from '../outbox/post-request.ts';

/** Receivers of purges: what `--purge` names before the equals sign. */
export const PURGE_KINDS = ['varnish', 'fastly', 'cloudflare', 'webhook'] as const;
export type PurgeKind = (typeof PURGE_KINDS)[number];

/** A cache that receives the changed tags. `address`: a URL, or the id of a service or zone. */
export type PurgeTarget = {
  readonly kind: PurgeKind;
  readonly address: string;
  /** Milliseconds after which a change is purged a second time. Absent: it is purged once. */
  readonly againAfterMs?: number;
};

/** Tags to be purged. */
export type PurgedTags = {
  readonly names: readonly string[];
  /** Readable names of the changed content, for receivers that name tags themselves. */
  readonly plain: readonly string[];
  /** Position of the newest change among them. */
  readonly position: bigint;
};

export type PurgeRequest = Required<Pick<PostedRequest, 'method' | 'url' | 'headers' | 'body'>>;

export type PurgeStyle = {
  /** Mark answers as stale instead of removing them. */
  readonly soft: boolean;
  /** Secret that the receiver asks for. */
  readonly token: string | undefined;
};

/** Varnish refuses a header of more than 8 KB. */
const VARNISH_BYTES = 4_000;
const FASTLY_KEYS = 256;
const CLOUDFLARE_TAGS = 30;
const WEBHOOK_TAGS = 1_000;

/** Returns the requests that purge tags, each within the limits of the receiver. */
export function purgeRequests(
  { kind, address }: PurgeTarget,
  { names, plain, position }: PurgedTags,
  { soft, token }: PurgeStyle,
): readonly PurgeRequest[] {
  const bearer: Readonly<Record<string, string>> =
    token === undefined ? {} : { authorization: `Bearer ${token}` };
  const json = { ...bearer, 'content-type': 'application/json' };
  switch (kind) {
    case 'varnish':
      return byBytes(names, VARNISH_BYTES).map((part) => ({
        method: 'PURGE',
        url: address,
        headers: { ...bearer, [soft ? 'xkey-softpurge' : 'xkey-purge']: part.join(' ') },
        body: '',
      }));
    case 'fastly':
      return byCount(names, FASTLY_KEYS).map((part) => ({
        method: 'POST',
        url: `https://api.fastly.com/service/${encodeURIComponent(address)}/purge`,
        headers: {
          ...(token !== undefined && { 'fastly-key': token }),
          ...(soft && { 'fastly-soft-purge': '1' }),
          'surrogate-key': part.join(' '),
        },
        body: '',
      }));
    case 'cloudflare':
      return byCount(names, CLOUDFLARE_TAGS).map((tags) => ({
        method: 'POST',
        url: `https://api.cloudflare.com/client/v4/zones/${encodeURIComponent(address)}/purge_cache`,
        headers: json,
        body: JSON.stringify({ tags }),
      }));
    case 'webhook':
      return byCount([...names, ...plain], WEBHOOK_TAGS).map((tags) => ({
        method: 'POST',
        url: address,
        headers: json,
        body: JSON.stringify({ tags, position: String(position) }),
      }));
  }
}

function byCount(names: readonly string[], most: number): readonly (readonly string[])[] {
  return Array.from({ length: Math.ceil(names.length / most) }, (_, at) =>
    names.slice(at * most, (at + 1) * most),
  );
}

function byBytes(names: readonly string[], most: number): readonly (readonly string[])[] {
  const parts: string[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const name of names) {
    bytes += name.length + 1;
    if (bytes > most) {
      parts.push([]);
      bytes = name.length;
    }
    parts.at(-1)?.push(name);
  }
  return parts;
}
