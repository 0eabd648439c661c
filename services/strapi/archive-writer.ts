import { createReadStream, createWriteStream, statSync } from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';

/** Writer of an archive in Strapi's form: a compressed tar. The size of a part precedes it, so growing parts are written to files first. */
export type ArchiveWriter = {
  add(name: string, text: string): Promise<void>;
  addFile(name: string, file: string): Promise<void>;
  addContent(name: string, size: number, content: Readable): Promise<void>;
  /** Resolves when the archive is complete. */
  end(): Promise<void>;
};

/** Creates the archive's file. `end` rejects if anything could not be written. */
export function openArchiveWriter(file: string): ArchiveWriter {
  const tar = pack();
  const written = pipeline(tar, createGzip(), createWriteStream(file, { mode: 0o600, flush: true }));
  // `end` rejects with the error.
  written.catch(() => {});
  const addContent = async (name: string, size: number, content: Readable) => {
    await Promise.race([pipeline(content, tar.entry({ name, size })), written]);
  };
  return {
    addContent,
    async add(name, text) {
      tar.entry({ name }, text);
    },
    addFile: (name, from) => addContent(name, statSync(from).size, createReadStream(from)),
    async end() {
      tar.finalize();
      await written;
    },
  };
}

/** File with a part of an archive that is written line by line. */
export type LinesFile = { readonly file: string; write(line: object): Promise<void>; end(): Promise<void> };

/** Creates a file of JSON lines, `<name>.jsonl`. */
export function openLinesFile(folder: string, name: string): LinesFile {
  const file = path.join(folder, `${name}.jsonl`);
  const stream = createWriteStream(file, { mode: 0o600 });
  return {
    file,
    async write(line) {
      if (!stream.write(`${JSON.stringify(line)}\n`))
        await new Promise((resolve) => stream.once('drain', resolve));
    },
    end: () => new Promise((resolve, reject) => stream.once('error', reject).end(() => resolve())),
  };
}
