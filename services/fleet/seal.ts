import { hmac, isSameText } from '../../shared/text-digest.ts';

/** Signs texts for processes with the same key. */
export type Seal = ReturnType<typeof createSeal>;

/** Creates a seal. `names` are its purpose: other names make another seal from one key. */
export function createSeal(key: Buffer, ...names: readonly string[]) {
  // As JSON, no two lists of parts are one text.
  const own = hmac(key, JSON.stringify(names));
  const sign = (...parts: readonly string[]) => hmac(own, JSON.stringify(parts)).toString('base64url');
  return {
    /** 43 characters, base64url. */
    sign,
    isSigned: (signature: string, ...parts: readonly string[]): boolean =>
      isSameText(signature, sign(...parts)),
  };
}
