import { createHmac, timingSafeEqual } from 'node:crypto';

/** Signs texts for those who have the same key, and nobody else. */
export type Seal = {
  /** 43 characters, base64url. */
  sign(...parts: readonly string[]): string;
  isSigned(signature: string, ...parts: readonly string[]): boolean;
};

/** `names` say what the seal is for: other names make another seal from one key. */
export function createSeal(key: Buffer, ...names: readonly string[]): Seal {
  // As JSON, no two lists of parts are one text.
  const own = createHmac('sha256', key).update(JSON.stringify(names)).digest();
  const sign = (...parts: readonly string[]) =>
    createHmac('sha256', own).update(JSON.stringify(parts)).digest('base64url');
  return {
    sign,
    isSigned(signature, ...parts) {
      const given = Buffer.from(signature);
      const wanted = Buffer.from(sign(...parts));
      return given.length === wanted.length && timingSafeEqual(given, wanted);
    },
  };
}
