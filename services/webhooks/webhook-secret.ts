import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { hmac } from '../../shared/text-digest.ts';

/** The part of a hook that nobody may read in the log. */
export type Sealed = {
  /** `whsec_…`, the newest first. An older one signs too until `until`, milliseconds since 1970. */
  readonly secrets: readonly { readonly secret: string; readonly until: number | null }[];
  readonly headers: Readonly<Record<string, string>>;
};

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;
const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Returns a random secret in the form of Standard Webhooks: `whsec_` and base64. */
export function newWebhookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/** Encrypts with the name of the hook as associated data, so that no hook can be given the secret of another. */
export function seal(key: Uint8Array, hook: string, content: Sealed): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(hook));
  const encrypted = Buffer.concat([cipher.update(JSON.stringify(content), 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString('base64url');
}

/** Throws a message if the key is not the one that encrypted it. */
export function unseal(key: Uint8Array, hook: string, sealed: string): Sealed {
  const bytes = Buffer.from(sealed, 'base64url');
  const body = bytes.subarray(NONCE_BYTES + TAG_BYTES);
  try {
    const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES))
      .setAAD(Buffer.from(hook))
      .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    const text = Buffer.concat([decipher.update(body), decipher.final()]).toString();
    return JSON.parse(text) as Sealed;
  } catch (error) {
    throw new Error(
      `the secret of the webhook ${hook} was encrypted with another access key: pass that key, or add the webhook again`,
      { cause: error },
    );
  }
}

/** Headers of Standard Webhooks for one attempt. Every secret in force signs. `now` in milliseconds. */
export function signatureHeaders(
  { secrets }: Sealed,
  message: { readonly id: string; readonly body: string },
  now: number,
): Readonly<Record<string, string>> {
  const seconds = String(Math.floor(now / 1000));
  const signed = `${message.id}.${seconds}.${message.body}`;
  const signatures = secrets
    .filter(({ until }) => until === null || until > now)
    .map(({ secret }) => {
      const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
      return `v1,${hmac(key, signed).toString('base64')}`;
    });
  return {
    'webhook-id': message.id,
    'webhook-timestamp': seconds,
    'webhook-signature': signatures.join(' '),
  };
}
