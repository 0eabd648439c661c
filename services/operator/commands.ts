import { lstatSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { importIntoServer } from './import.ts';
import { defineOperation, type OperatorContext } from './operation.ts';

/** Folder of the data directory with the files of backups, exports and imports over HTTP. */
const FOLDER = 'transfer';

/** A name in that folder. No request names any other file of the server. */
const NAME = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,99}$/i, 'must be a name of at most 100 letters, digits, ".", "_" and "-"');

/** Checks the log, the read index, the content graph and, with `assets`, the uploaded files. Each line is a difference or the summary. */
export const verifyOperation = defineOperation({
  form: z.strictObject({
    repair: z.boolean().default(false),
    assets: z.boolean().default(false),
    head: z
      .string()
      .regex(/^\d{1,18}:[0-9a-f]{64}$/, 'must be a head of the log, as status has it: POSITION:CHAIN')
      .optional(),
  }),
  http: { summary: 'Check the log, and compare the read index and the content graph with it', answer: 'all' },
  async *run(context, { repair, assets, head }, signal) {
    const options = [
      repair ? ['--repair'] : [],
      head === undefined ? [] : ['--head', head],
      assets ? ['--assets'] : [],
    ];
    for await (const line of run(context, ['verify', '--json', ...options.flat()], signal))
      yield JSON.parse(line) as object;
  },
});

/** Copies the log and the uploaded files to a new folder. The last line is the manifest. */
export const backupOperation = defineOperation({
  form: z.strictObject({ name: NAME }),
  http: {
    summary: 'Copy the current log and the uploaded files to a new folder of the server',
    answer: 'one',
  },
  async *run(context, { name }, signal) {
    const lines = await written(context, name, (folder) =>
      run(context, ['backup', '--json', folder], signal),
    );
    yield JSON.parse(lines.join('\n')) as object;
  },
});

/** Writes the history, or with `strapi` the current content for `strapi import`, to a new file. */
export const exportOperation = defineOperation({
  form: z.strictObject({ name: NAME, strapi: z.boolean().default(false) }),
  http: {
    summary: 'Write the history, or the content for strapi import, to a new file of the server',
    answer: 'one',
  },
  async *run(context, { name, strapi }, signal) {
    const options = strapi ? ['--strapi'] : [];
    const lines = await written(context, name, (file) => run(context, ['export', ...options, file], signal));
    yield { text: lines.join('\n') };
  },
});

/** Imports the documents of a file, while the server answers. */
export const importFileOperation = defineOperation({
  form: z.strictObject({ name: NAME, type: z.string().optional() }),
  writes: true,
  http: {
    summary: 'Import the documents of a JSONL or CSV file of the server',
    answer: 'all',
    destroys: true,
  },
  async *run(context, { name, type }, signal) {
    const file = join(context.data, FOLDER, name);
    if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true)
      throw new Error(`there is no file ${name} in the folder ${FOLDER} of the data directory`);
    yield* importIntoServer(context, { files: [file], type }, signal);
  },
});

/** Makes the smaller pictures of all files that have none. */
export const makeFormatsOperation = defineOperation({
  form: z.strictObject({}),
  http: { summary: 'Make missing smaller pictures of uploaded files', answer: 'one' },
  async *run(context, _request, signal) {
    for await (const text of run(context, ['assets', 'formats'], signal)) yield { text };
  },
});

/** Runs a command on the server's data, in a process of its own. */
function run(
  { command }: OperatorContext,
  args: readonly string[],
  signal: AbortSignal,
): AsyncIterable<string> {
  if (command === undefined) throw new Error('no server serves this data directory');
  return command(args, signal);
}

/** Paths that are being written. */
const inWork = new Set<string>();

/** Runs a command that writes to a new path. If it fails or is interrupted, nothing is left there. */
async function written(
  { data }: OperatorContext,
  name: string,
  write: (path: string) => AsyncIterable<string>,
): Promise<readonly string[]> {
  const folder = join(data, FOLDER);
  const path = join(folder, name);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (inWork.has(path) || lstatSync(path, { throwIfNoEntry: false }) !== undefined)
    throw new Error(
      `${name} exists already in the folder ${FOLDER} of the data directory: pass another name`,
    );
  inWork.add(path);
  try {
    return await Array.fromAsync(write(path));
  } catch (error) {
    for (const made of [path, `${path}.part`]) rmSync(made, { recursive: true, force: true });
    throw error;
  } finally {
    inWork.delete(path);
  }
}
