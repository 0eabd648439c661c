import type { TagRoom } from './tag-names.ts';

/** Receivers of tags: what the header is called, and how much of it they read. */
type Receiver = {
  readonly header: string;
  readonly separator: string;
  readonly isQuoted?: boolean;
  /** Maximum number of tags; further ones are dropped without a word. */
  readonly tags: number;
};

const MANY = 1_000;

export const TAG_RECEIVERS = {
  fastly: { header: 'surrogate-key', separator: ' ', tags: MANY },
  cloudflare: { header: 'cache-tag', separator: ',', tags: MANY },
  cloudfront: { header: 'cache-tag', separator: ',', tags: 50 },
  netlify: { header: 'netlify-cache-tag', separator: ',', tags: 500 },
  akamai: { header: 'edge-cache-tag', separator: ',', tags: 128 },
  varnish: { header: 'xkey', separator: ' ', tags: MANY },
  rfc9875: { header: 'cache-groups', separator: ', ', isQuoted: true, tags: 128 },
} as const satisfies Readonly<Record<string, Receiver>>;

export type TagReceiver = keyof typeof TAG_RECEIVERS;

/** Room for tags in the header of a receiver, which has at most `bytes`. */
export function roomOf(receiver: TagReceiver, bytes: number): TagRoom {
  const { separator, isQuoted, tags }: Receiver = TAG_RECEIVERS[receiver];
  return { tags, bytes, around: separator.length + (isQuoted ? 2 : 0) };
}

export function tagHeader(receiver: TagReceiver, names: readonly string[]): string {
  const { separator, isQuoted }: Receiver = TAG_RECEIVERS[receiver];
  return (isQuoted ? names.map((name) => `"${name}"`) : names).join(separator);
}
