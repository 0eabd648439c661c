import { createDecipheriv, scryptSync } from 'node:crypto';

/**
 * `strapi export --encrypt` uses AES-128 in ECB mode. scrypt derives the key from the passphrase. Later releases of Strapi begin the file
 * with a mark, a version, the length of the salt, and the salt. Earlier releases use no salt.
 */
const ALGORITHM = 'aes-128-ecb';
const KEY_BYTES = 16;
const MARK = Buffer.from('STRAPI2\0\x02\x10', 'latin1');
const SALT_BYTES = 16;
const HEAD_BYTES = MARK.length + SALT_BYTES;

/** Yields the plain bytes of an encrypted archive. */
export async function* decryptArchive(
  encrypted: AsyncIterable<Buffer>,
  passphrase: string,
): AsyncGenerator<Buffer> {
  let head: Buffer = Buffer.alloc(0);
  let decipher: ReturnType<typeof createDecipheriv> | undefined;
  for await (const bytes of encrypted) {
    if (decipher !== undefined) {
      yield decipher.update(bytes);
      continue;
    }
    head = Buffer.concat([head, bytes]);
    if (head.length < HEAD_BYTES) continue;
    const isSalted = head.subarray(0, MARK.length).equals(MARK);
    decipher = decipherOf(passphrase, isSalted ? head.subarray(MARK.length, HEAD_BYTES) : '');
    yield decipher.update(isSalted ? head.subarray(HEAD_BYTES) : head);
  }
  decipher ??= decipherOf(passphrase, '');
  yield decipher.final();
}

function decipherOf(passphrase: string, salt: Buffer | string) {
  return createDecipheriv(ALGORITHM, scryptSync(passphrase, salt, KEY_BYTES), null);
}
