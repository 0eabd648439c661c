import { hmac, isSameText } from '../../shared/text-digest.ts';

/** Signs texts for processes with the same key. */
export type Seal = ReturnType<typeof createSeal>;

/** Creates a seal. `names` are its purpose: other names make another seal from one key. */
export function createSeal(key: Buffer, ...names: readonly string[]) {
  // In JSON, two different lists of parts never have the same text.
  const own = hmac(key, JSON.stringify(names));
  const sign = (...parts: readonly string[]) => hmac(own, JSON.stringify(parts)).toString('base64url');
  return {
    /** Returns a signature of 43 characters in base64url. */
    sign,
    isSigned: (signature: string, ...parts: readonly string[]): boolean =>
      isSameText(signature, sign(...parts)),
  };
}
