export type Caller = 'anonymous' | 'site' | 'full';

/** One thing to send. `pair`: another that has to get the same answer, the name in question aside. */
export type FuzzInput =
  | {
      readonly kind: 'request' | 'probe';
      readonly caller: Caller;
      readonly method: string;
      readonly bytes: Uint8Array;
      readonly pair?: Pair;
    }
  | { readonly kind: 'bytes'; readonly caller: Caller; readonly bytes: Uint8Array };

export type Pair = {
  readonly bytes: Uint8Array;
  readonly name: string;
  readonly other: string;
  /** Answers repeat what was asked, refusals or not. */
  readonly isRepeated?: true;
};

/** Values from which inputs are made. */
export type FuzzMaterial = {
  /** Paths with query strings that are answered. */
  readonly urls: readonly string[];
  /** Those of the types that every caller may find. */
  readonly openUrls: readonly string[];
  readonly documentIds: readonly string[];
  /** Ids of documents without secrets. A write to another document would publish its secrets. */
  readonly writableIds: readonly string[];
  readonly files: readonly string[];
  readonly tokens: Readonly<Record<Caller, string | undefined>>;
  /** Where each caller's changes continue. */
  readonly syncTokens: Readonly<Record<Caller, string>>;
};

export type Request = Extract<FuzzInput, { kind: 'request' | 'probe' }>;

type Encoded = {
  readonly caller: Caller;
  readonly method: string;
  readonly target: string;
  readonly body: string;
  readonly headers: readonly string[];
};

/** Returns a request of these parts. */
export function requestOf(material: FuzzMaterial, parts: Encoded): Request {
  const { caller, method } = parts;
  return { kind: 'request', caller, method, bytes: encode(material, parts) };
}

/** Whatever the target is, it is one line without a space. */
export function encode(
  { tokens }: FuzzMaterial,
  { caller, method, target, body, headers }: Encoded,
): Uint8Array {
  const bytes = Buffer.from(body, 'utf8');
  const token = tokens[caller];
  const hasOwn = (name: string) => headers.some((header) => header.startsWith(`${name}:`));
  const lines = [
    `${method} ${target.replace(/[\0-\x20\x7f]/g, '_')} HTTP/1.1`,
    'Host: localhost',
    ...(token === undefined || hasOwn('Authorization') ? [] : [`Authorization: Bearer ${token}`]),
    ...(bytes.length > 0 || method === 'POST' ? [`Content-Length: ${bytes.length}`] : []),
    ...(bytes.length > 0 && !hasOwn('Content-Type') ? ['Content-Type: application/json'] : []),
    ...headers,
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'utf8'), bytes]);
}
