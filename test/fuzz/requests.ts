export type Caller = 'anonymous' | 'site' | 'full';

/** An input that is sent. `pair`: another input that must get the same answer, except for the name in it. */
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
  /** All answers repeat the name in the request, and not only refusals. */
  readonly isRepeated?: true;
};

/** Values from which inputs are made. */
export type FuzzMaterial = {
  /** Valid paths with query strings. */
  readonly urls: readonly string[];
  /** The paths of types that every caller may find. */
  readonly openUrls: readonly string[];
  readonly documentIds: readonly string[];
  /** Ids of documents without secrets. A write to another document would publish its secrets. */
  readonly writableIds: readonly string[];
  readonly files: readonly string[];
  readonly tokens: Readonly<Record<Caller, string | undefined>>;
  /** Tokens from which each caller's feed of changes continues. */
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

/** Returns the bytes of a request. Spaces and line ends in the target are replaced, so the request line stays one line. */
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
