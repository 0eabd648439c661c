import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, describe, expect, it } from 'vitest';
import { readGraphContents } from '../../projections/generations/graph-contents.ts';
import { importHere } from '../../services/cli/commands/import-here.ts';
import { readContentTypes } from '../../services/cli/settings/read-content-types.ts';
import { IMPORT_SETTINGS, parseSettings } from '../../services/cli/settings/settings.ts';
import { assetsAddress, openAssetStore } from '../../services/stores/open-asset-store.ts';
import { importArchive } from '../../services/strapi/import-archive.ts';
import { nameInSpace } from '../../shared/asset-store/served-names.ts';
import { USER_TYPE } from '../../shared/schema/content-type.ts';
import {
  ARCHIVE_KEY,
  FORMS,
  makeProject,
  ODDITIES,
  STRAPI_VERSIONS,
  writeForm,
} from '../support/odd-archives.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** 40 archives: two versions of Strapi, four forms, five kinds of members. `npm test` imports every fifth. */
const ARCHIVES = STRAPI_VERSIONS.flatMap((version) =>
  FORMS.flatMap((form) => ODDITIES.map((oddity) => ({ version, form, oddity }))),
).map((made, at) => ({ ...made, at }));

const folder = mkdtempSync(join(tmpdir(), 'varve-archives-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Archive = (typeof ARCHIVES)[number];

async function imported({ version, form, oddity, at }: Archive) {
  const { content, expected } = makeProject(version, oddity);
  const file = await writeForm(join(folder, String(at)), form, content, oddity === 'a Mac');
  const data = join(folder, `data-${at}`);
  const settings = parseSettings(IMPORT_SETTINGS, { data, contentTypes: file, key: ARCHIVE_KEY });
  const contentTypes = await readContentTypes(settings, pino({ level: 'silent' }));
  const summary = await importHere(settings, contentTypes, (target) =>
    importArchive({
      ...settings,
      ...target,
      file,
      stagingFile: join(folder, `${at}.db`),
      onBytes: () => {},
      onDocuments: () => {},
    }),
  );
  return { expected, summary, settings, data };
}

/** Counts the rows, or the links, of a graph by type and version. */
function countItems(data: string, kind: 'rows' | 'links'): Record<string, number> {
  const graph = readGraphContents(join(data, 'graph.db'));
  try {
    const counts: Record<string, number> = {};
    for (const { group } of graph.items({})) {
      const [, found, type, version] = /^(rows|links) of (.+), (.+)$/.exec(group) ?? [];
      const name = `${type} ${version}`;
      if (found === kind) counts[name] = (counts[name] ?? 0) + 1;
    }
    return counts;
  } finally {
    graph.close();
  }
}

function userNames(data: string): readonly unknown[] {
  const graph = readGraphContents(join(data, 'graph.db'));
  try {
    return Array.from(graph.sources(USER_TYPE), (user) => (user as { readonly username: string }).username);
  } finally {
    graph.close();
  }
}

describe.each(ARCHIVES)('an archive of Strapi $version as $form with odd $oddity', (archive) => {
  const options = archive.at % 6 === 0 ? {} : takesMinutes('archives of all forms with odd members');
  it('has all its rows, links, files and users', options, async () => {
    const { expected, summary, settings, data } = await imported(archive);
    expect(summary.refused).toEqual([]);
    expect(summary.mismatches).toHaveLength(expected.mismatches);
    expect(countItems(data, 'rows')).toEqual(expected.rows);
    expect(countItems(data, 'links')).toEqual(expected.links);
    expect(userNames(data)).toEqual(expected.users);
    const store = await openAssetStore(assetsAddress(settings));
    for (const [name, bytes] of Object.entries(expected.files)) {
      const found = await store.names.find(nameInSpace('varve', name));
      const opened = await store.open(found?.hash ?? '');
      expect(Buffer.concat(await Array.fromAsync(opened?.content ?? [])), name).toEqual(bytes);
    }
  });
});
