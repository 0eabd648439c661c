import { createRequire } from 'node:module';
import type { Received } from './webhook-receiver.ts';

type Verifier = { verify(body: string, headers: object): unknown };

const { Webhook } = createRequire(import.meta.url)('standardwebhooks') as {
  readonly Webhook: new (secret: string) => Verifier;
};

/** Verifies a request with the reference library of Standard Webhooks. Throws for a wrong signature. */
export function verifyWebhook(
  secret: string,
  { body, headers }: Pick<Received, 'body' | 'headers'>,
): unknown {
  return new Webhook(secret).verify(body, headers);
}
