/** Receiver of tags: the name of its header, and how much of the header it reads. */
type Receiver = {
  readonly header: string;
  readonly separator: string;
  readonly isQuoted?: boolean;
  /** Maximum number of tags. The receiver silently drops further tags. */
  readonly tags: number;
  /** Maximum length of the header. The receiver silently drops the rest. Absent: there is no limit. */
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

/** Form of a receiver's header. */
export type TagForm = {
  /** Maximum number of tags, and maximum length of the header. */
  readonly tags: number;
  readonly bytes: number;
  readonly separator: string;
  /** Empty, or a quotation mark. */
  readonly quote: string;
};

/** Returns the form of a receiver's header: at most `bytes`, and no more than the receiver reads. */
export function formOf(receiver: TagReceiver, bytes: number): TagForm {
  const { separator, isQuoted = false, tags, bytes: read = bytes }: Receiver = TAG_RECEIVERS[receiver];
  return { tags, bytes: Math.min(bytes, read), separator, quote: isQuoted ? '"' : '' };
}
