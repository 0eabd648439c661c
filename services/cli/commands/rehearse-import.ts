import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openContentStore } from '../../process/content-store.ts';
import { printReplaced } from '../output/log-reports.ts';
import type { ReadContentTypes } from '../settings/read-content-types.ts';
import type { ImportSettings } from '../settings/settings.ts';
import { type ImportTarget, importHere } from './import-here.ts';

/** Documents that a rehearsal shows. */
const SHOWN = 10;

export type Rehearsal<Result> = {
  readonly result: Result;
  /** Rows of the first documents, as answers have them: `<version> <JSON>`. */
  readonly rows: readonly string[];
};

/**
 * Runs an import that writes only its first ten documents, to a data directory that is removed afterwards. Its files and roles are stored
 * nowhere. `folder` is another directory for temporary files.
 */
export async function rehearseImport<Result>(
  settings: ImportSettings,
  contentTypes: ReadContentTypes,
  work: (target: ImportTarget, folder: string) => Promise<Result>,
): Promise<Rehearsal<Result>> {
  return inTemporaryFolder(async (folder) => {
    const here = { ...settings, data: join(folder, 'data'), eventStore: undefined };
    let documents = 0;
    const result = await importHere(here, contentTypes, ({ write, ...target }) =>
      work(
        {
          ...target,
          write: async (document) => (documents++ < SHOWN ? write(document) : []),
          takeAsset: async ({ content }) => {
            for await (const _ of content);
          },
          defineRoles: async () => {},
        },
        folder,
      ),
    );
    return { result, rows: await rowsOf(here, contentTypes) };
  });
}

async function rowsOf(settings: ImportSettings, contentTypes: ReadContentTypes): Promise<readonly string[]> {
  const store = await openContentStore({
    data: { ...settings, reportReplaced: printReplaced },
    content: contentTypes,
  });
  const text = new TextDecoder();
  try {
    return [...store.graph.readAll()].flatMap(({ rows }) =>
      rows.flatMap(({ version, row }) => (row === null ? [] : [`${version} ${text.decode(row.source)}`])),
    );
  } finally {
    await store.close();
  }
}

/** Calls `use` with a folder that is removed afterwards. */
export async function inTemporaryFolder<Result>(use: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'varve-import-'));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
