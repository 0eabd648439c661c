import type { Rights } from '../../../shared/access/rights.ts';
import { isSameText } from '../../../shared/text-digest.ts';

/** Header of a request to a past: the secret, and the rights of the caller. */
export const PAST_HEADER = 'varve-past';

/** Returns the value of the header. The process that serves the present has checked who calls. */
export function writeRights(secret: string, rights: Rights): string {
  const plain = rights.kind === 'custom' ? { ...rights, allowed: [...rights.allowed] } : rights;
  return `${secret} ${Buffer.from(JSON.stringify(plain)).toString('base64url')}`;
}

/** Reads the rights of a request; undefined without the right secret. */
export function readRights(secret: string, header: string | undefined): Rights | undefined {
  const [given = '', text = ''] = (header ?? '').split(' ');
  if (!isSameText(given, secret)) return undefined;
  const rights = JSON.parse(Buffer.from(text, 'base64url').toString()) as Rights;
  return rights.kind === 'custom' ? { ...rights, allowed: new Set(rights.allowed) } : rights;
}
