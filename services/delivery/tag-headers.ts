import type { TagRoom } from './tag-names.ts';

/** Receivers of tags: what the header is called, and how much of it they read. */
type Receiver = {
  readonly header: string;
  readonly separator: string;
  readonly isQuoted?: boolean;
  /** Maximum number of tags; further ones are dropped without a word. */
  readonly tags: number;
  /** Longest header, if there is a limit: what is behind it is dropped without a word. */
  readonly bytes?: number;
};

const MANY = 1_000;
const KIBIBYTES_16 = 16_384;

export const TAG_RECEIVERS = {
  fastly: { header: 'surrogate-key', separator: ' ', tags: MANY, bytes: KIBIBYTES_16 },
  cloudflare: { header: 'cache-tag', separator: ',', tags: MANY, bytes: KIBIBYTES_16 },
  cloudfront: { header: 'cache-tag', separator: ',', tags: 50 },
  netlify: { header: 'netlify-cache-tag', separator: ',', tags: 500 },
  akamai: { header: 'edge-cache-tag', separator: ',', tags: 128 },
  varnish: { header: 'xkey', separator: ' ', tags: MANY },
  rfc9875: { header: 'cache-groups', separator: ', ', isQuoted: true, tags: 128 },
} as const satisfies Readonly<Record<string, Receiver>>;

export type TagReceiver = keyof typeof TAG_RECEIVERS;

/** Room for tags in the header of a receiver, which has at most `bytes`, and no more than the receiver reads. */
export function roomOf(receiver: TagReceiver, bytes: number): TagRoom {
  const { separator, isQuoted, tags, bytes: read = bytes }: Receiver = TAG_RECEIVERS[receiver];
  return { tags, bytes: Math.min(bytes, read), around: separator.length + (isQuoted ? 2 : 0) };
}

/** Returns the header's value for a receiver. */
export function tagHeader(receiver: TagReceiver, names: readonly string[]): string {
  const { separator, isQuoted }: Receiver = TAG_RECEIVERS[receiver];
  return (isQuoted ? names.map((name) => `"${name}"`) : names).join(separator);
}
