import { closeSync, fstatSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import { deserialize, serialize } from 'node:v8';
import { crc32 } from 'node:zlib';

/**
 * File of values, each of which V8 serialises. Before each value are its bytes (0 = the end of the file) and a checksum. A checksum covers
 * everything before it too, so a reader finds every damaged, missing, moved or added byte.
 */
const HEAD_BYTES = 8;
const OWNER_ONLY = 0o600;
const NO_BYTES = Buffer.alloc(0);

/** Writes values to a file, which appears when it is complete. An interrupted attempt leaves `<file>.part`, which the next one replaces. */
export function writeParts(file: string, parts: Iterable<unknown>): void {
  const part = `${file}.part`;
  rmSync(part, { force: true });
  try {
    inFile(openSync(part, 'wx', OWNER_ONLY), (descriptor) => {
      let checksum = 0;
      const write = (bytes: Buffer) => {
        const head = Buffer.alloc(HEAD_BYTES);
        head.writeUInt32LE(bytes.length);
        checksum = crc32(bytes, crc32(head.subarray(0, 4), checksum));
        head.writeUInt32LE(checksum, 4);
        for (const each of [head, bytes]) writeAll(descriptor, each);
      };
      for (const value of parts) write(serialize(value));
      write(NO_BYTES);
    });
    renameSync(part, file);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}

/** Reads the values of a file. Throws as soon as a part of it is not as it was written, and at its end if values are missing. */
export function* readParts(file: string): Generator<unknown> {
  const descriptor = openSync(file, 'r');
  try {
    const { size } = fstatSync(descriptor);
    let checksum = 0;
    for (let at = 0; ; ) {
      const head = readBytes(descriptor, HEAD_BYTES);
      const length = head.readUInt32LE();
      at += HEAD_BYTES + length;
      if (at > size) throw new Error(`${file} is damaged`);
      const bytes = readBytes(descriptor, length);
      checksum = crc32(bytes, crc32(head.subarray(0, 4), checksum));
      if (checksum !== head.readUInt32LE(4) || (length === 0 && at < size))
        throw new Error(`${file} is damaged`);
      if (length === 0) return;
      yield deserialize(bytes);
    }
  } finally {
    closeSync(descriptor);
  }
}

function inFile(descriptor: number, work: (descriptor: number) => void): void {
  try {
    work(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function writeAll(descriptor: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
}

function readBytes(descriptor: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(length);
  let at = 0;
  while (at < length) {
    const read = readSync(descriptor, bytes, at, length - at, null);
    if (read === 0) throw new Error('the file ends too early');
    at += read;
  }
  return bytes;
}
