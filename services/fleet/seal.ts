import { hmac, isSameText } from '../../shared/text-digest.ts';

/** Signs texts for processes with the same key. */
export type Seal = {
  /** 43 characters, base64url. */
  sign(...parts: readonly string[]): string;
  isSigned(signature: string, ...parts: readonly string[]): boolean;
};

/** `names` are the purpose of the seal: other names make another seal from one key. */
export function createSeal(key: Buffer, ...names: readonly string[]): Seal {
  // As JSON, no two lists of parts are one text.
  const own = hmac(key, JSON.stringify(names));
  const sign = (...parts: readonly string[]) => hmac(own, JSON.stringify(parts)).toString('base64url');
  return {
    sign,
    isSigned: (signature, ...parts) => isSameText(signature, sign(...parts)),
  };
}
