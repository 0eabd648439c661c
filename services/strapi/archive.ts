import { createReadStream, existsSync, lstatSync, readdirSync, statSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import path from 'node:path';
import { PassThrough, Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { archiveName, isOfMac, METADATA, PARTS } from './archive-names.ts';
import { decryptArchive } from './decrypt-archive.ts';

/** File of an archive. The caller reads its content, or continues with the next file. */
export type ArchiveFile = {
  /** Path with `/`: `entities/entities_00001.jsonl`. */
  readonly name: string;
  readonly size: number;
  readonly content: AsyncIterable<Buffer>;
};

export type Archive = {
  /** File .tar or .tar.gz, with or without .enc, or a folder with the same files. */
  readonly file: string;
  /** Passphrase of an encrypted archive. */
  readonly key?: string | undefined;
  /** Called with the number of bytes that were read from the file. */
  readonly onBytes?: (bytes: number) => void;
};

/** Returns whether `strapi export` wrote a file or folder, by its name and content. */
export function isArchive(file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return false;
  if (!found.isDirectory()) return /\.tar(\.gz)?(\.enc)?$|\.tgz$/.test(file);
  return hasParts(file) || hasParts(rootOf(file));
}

/** One name is not enough: a folder of content types may have a type called metadata. */
function hasParts(folder: string): boolean {
  return [METADATA, 'schemas', 'entities'].every((name) => existsSync(path.join(folder, name)));
}

/** Returns the folder with the parts: the given one, or the only folder in it, as of an archive that was packed and unpacked again. */
function rootOf(folder: string): string {
  if (existsSync(path.join(folder, 'entities')) || existsSync(path.join(folder, METADATA))) return folder;
  const inner = readdirSync(folder).filter((name) => !isOfMac(name));
  const [only] = inner;
  return inner.length === 1 && only !== undefined ? path.join(folder, only) : folder;
}

/** Yields the files of an archive in their order. Throws a message if `strapi export` did not write it. */
export async function* archiveFiles(archive: Archive): AsyncGenerator<ArchiveFile> {
  if (statSync(archive.file).isDirectory()) {
    yield* folderFiles(archive);
    return;
  }
  let isKnown = false;
  const tar = extract();
  // A listener is needed, but the iterators below throw the error.
  tar.on('error', () => {});
  const failed = pipeline(plainBytes(archive), decompressor(archive), tar).catch((error: unknown) => {
    tar.destroy(error as Error);
  });
  try {
    for await (const entry of tar) {
      entry.on('error', () => {});
      const name = entry.header.type === 'file' ? archiveName(entry.header.name) : undefined;
      if (name !== undefined) {
        isKnown = true;
        yield {
          name,
          size: entry.header.size ?? 0,
          content: contentOf(archive, entry as AsyncIterable<Buffer>),
        };
      }
      entry.resume();
    }
    await failed;
  } catch (error) {
    throw unreadable(archive, error as NodeJS.ErrnoException);
  }
  if (!isKnown) throw new Error(`${archive.file} is not an archive that strapi export wrote`);
}

async function* contentOf(archive: Archive, entry: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* entry;
  } catch (error) {
    throw unreadable(archive, error as NodeJS.ErrnoException);
  }
}

/** Maximum number of characters in a line. A longer line would fill the memory before it could be parsed. */
const MAX_LINE = 64 * 1024 * 1024;
/** Characters of a line that a message shows. */
const MAX_SHOWN = 80;

/** Shape of the lines of a part, and its name in messages. */
export type LineShape<Line> = { readonly name: string; readonly fits: (line: unknown) => line is Line };

/** Yields the parsed lines of a file. Throws a message that names the line if it is too long, not JSON, or of another shape. */
export async function* readJsonLines<Line>(
  { name, content }: ArchiveFile,
  shape: LineShape<Line>,
  maxLine = MAX_LINE,
): AsyncGenerator<Line> {
  let number = 0;
  for await (const line of textLines(content, maxLine)) {
    number++;
    const at = `${name}, line ${number}`;
    if (line === null)
      throw new Error(`${at}: longer than ${maxLine} characters, the most that a line may have`);
    if (line.trim() === '') continue;
    const value = parsedJson(line, at);
    if (!shape.fits(value)) throw new Error(`${at}: must be ${shape.name}, got ${line.slice(0, MAX_SHOWN)}`);
    yield value;
  }
}

/** Maximum number of bytes of a file that is read whole. Strapi writes some hundred of them. */
const MAX_WHOLE = 1024 * 1024;

/** Parses the whole content of a file. Throws a message that names the file if it is too long or not JSON. */
export async function readJsonFile({ name, content }: ArchiveFile): Promise<unknown> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const bytes of content) {
    length += bytes.length;
    if (length > MAX_WHOLE)
      throw new Error(`${name}: longer than ${MAX_WHOLE} bytes, the most that it may have`);
    parts.push(bytes);
  }
  return parsedJson(new TextDecoder().decode(Buffer.concat(parts)), name);
}

/** Parses a text. If it is not JSON, throws a message that begins with `at`. */
function parsedJson(text: string, at: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${at}: ${(error as Error).message}`);
  }
}

/**
 * Yields lines, and null for a line that is too long. It does not use readline, whose iterator hides errors of its input: a truncated file
 * would end the process. The parts of a line are joined once, because a text with embedded pictures has megabytes.
 */
async function* textLines(content: AsyncIterable<Buffer>, maxLine: number): AsyncGenerator<string | null> {
  const decoder = new TextDecoder();
  let parts: string[] = [];
  let length = 0;
  for await (const bytes of content) {
    const [end = '', ...others] = decoder.decode(bytes, { stream: true }).split('\n');
    parts.push(end);
    length += end.length;
    if (length > maxLine) yield null;
    for (const line of others) {
      yield parts.join('');
      parts = [line];
      length = line.length;
    }
  }
  yield parts.join('') + decoder.decode();
}

function plainBytes({ file, key, onBytes }: Archive): Readable {
  if (file.endsWith('.enc') && !key)
    throw new Error(`${file} is encrypted: pass the key that it was exported with, --key`);
  const raw = createReadStream(file);
  raw.on('data', (bytes) => onBytes?.(bytes.length));
  return file.endsWith('.enc') ? Readable.from(decryptArchive(raw, key ?? '')) : raw;
}

/** Strapi compresses an archive before it encrypts it. */
function decompressor({ file }: Archive): Transform {
  return /gz(\.enc)?$/.test(file) ? createGunzip() : new PassThrough();
}

async function* folderFiles({ file, onBytes }: Archive): AsyncGenerator<ArchiveFile> {
  const root = rootOf(file);
  const found: string[] = [];
  for await (const name of glob([METADATA, ...PARTS.map((part) => `${part}/**/*`)], { cwd: root })) {
    const known = archiveName(name);
    if (known !== undefined) found.push(known);
  }
  for (const name of found.sort(byPart)) {
    const location = path.join(root, name);
    const about = lstatSync(location);
    // strapi export writes none. A link could name any file of the machine, and assets are served.
    if (about.isSymbolicLink()) throw new Error(`${location} is a symbolic link: an archive has only files`);
    if (!about.isFile()) continue;
    yield { name, size: about.size, content: countedBytes(location, onBytes) };
  }
}

/** Yields the content of a file. It opens the file when the content is read, because a listener before would take the first bytes. */
async function* countedBytes(file: string, onBytes: Archive['onBytes']): AsyncGenerator<Buffer> {
  for await (const bytes of createReadStream(file) as AsyncIterable<Buffer>) {
    onBytes?.(bytes.length);
    yield bytes;
  }
}

/** Sorts files as in an archive. */
function byPart(a: string, b: string): number {
  const rank = (name: string) => PARTS.indexOf(name.split('/')[0] ?? '');
  return rank(a) - rank(b) || (a < b ? -1 : 1);
}

const DAMAGED = new Set([
  ...['Z_DATA_ERROR', 'Z_BUF_ERROR', 'ERR_OSSL_BAD_DECRYPT', 'ERR_OSSL_WRONG_FINAL_BLOCK_LENGTH'],
]);

function unreadable({ file, key }: Archive, error: NodeJS.ErrnoException): Error {
  const isDamaged =
    DAMAGED.has(error.code ?? '') || /Invalid tar|Unexpected end|Stream was destroyed/.test(error.message);
  if (!isDamaged) return error;
  const isKey = key === undefined ? '' : ', or the key is wrong';
  return new Error(`${file} cannot be read: it is damaged or cut short${isKey} (${error.message})`);
}
