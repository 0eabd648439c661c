/** Location of assets in an S3-compatible store. */
export type S3Location = {
  readonly bucket: string;
  /** Prefix of every key: empty, or ends with a slash. */
  readonly prefix: string;
  /** Address of a store other than Amazon's. */
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
  /** True if the path of a URL names the bucket, and not its host name. */
  readonly pathStyle: boolean;
};

/** Error for an unusable address of a store; the message says why. */
class InvalidS3Location extends Error {}

const PARAMETERS = ['endpoint', 'region', 'path-style'];

/**
 * Parses `s3://bucket/prefix?endpoint=https://s3.example.org&region=eu-central-1&path-style=true`. With an endpoint, path style is the
 * default, because most stores support it. Throws InvalidS3Location.
 */
export function parseS3Location(address: string): S3Location {
  if (!URL.canParse(address)) throw new InvalidS3Location('must be an address such as s3://bucket/prefix');
  const url = new URL(address);
  if (url.host === '') throw new InvalidS3Location('names no bucket: use s3://bucket/prefix');
  if (url.username !== '' || url.password !== '') {
    throw new InvalidS3Location('contains a secret: pass it as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY');
  }
  for (const name of url.searchParams.keys()) {
    if (!PARAMETERS.includes(name))
      throw new InvalidS3Location(`has the unknown parameter ${name}: use ${PARAMETERS.join(', ')}`);
  }
  const path = decodeURIComponent(url.pathname).replace(/^\/+|\/+$/g, '');
  const endpoint = parseEndpoint(url.searchParams.get('endpoint'));
  return {
    bucket: url.host,
    prefix: path === '' ? '' : `${path}/`,
    endpoint,
    // Self-hosted stores seldom have regions, but a signature needs one.
    region: url.searchParams.get('region') ?? (endpoint === undefined ? undefined : 'us-east-1'),
    pathStyle: parsePathStyle(url.searchParams.get('path-style')) ?? endpoint !== undefined,
  };
}

function parseEndpoint(text: string | null): string | undefined {
  if (text === null) return undefined;
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new InvalidS3Location(`has the endpoint "${text}", which is not an http or https address`);
}

function parsePathStyle(text: string | null): boolean | undefined {
  if (text === null) return undefined;
  if (text === 'true' || text === 'false') return text === 'true';
  throw new InvalidS3Location(`has path-style=${text}, which must be true or false`);
}
