import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openContentGraph } from '../../../projections/graph/content-graph.ts';
import { replayGraph } from '../../../projections/verification/replay-graph.ts';
import { withLogin } from '../../../shared/access/access-state.ts';
import type { StoredEvent } from '../../../shared/event-store/event-store.ts';
import type { TypeDefinition } from '../../../shared/schema/type-definitions.ts';
import { readAccessUpTo } from '../../access/access-control.ts';
import { withScratchDirectory } from '../../operator/scratch-directory.ts';
import { assetsAddress, isS3, openAssetStore } from '../../stores/open-asset-store.ts';
import { type ExportSummary, exportArchive } from '../../strapi/export-archive.ts';
import { requireLog, withLog } from '../settings/access-log.ts';
import type { BackupSettings } from '../settings/settings.ts';

/** Version of Strapi whose archives have this form. */
const STRAPI = '5.54.0';

/**
 * `varve export --strapi`: exports the current content for `strapi import`. It replays the log into a separate graph, so
 * servers can continue to use theirs.
 */
export async function exportToStrapi(settings: BackupSettings, file: string): Promise<void> {
  requireLog(settings);
  if (!/\.(tar\.gz|tgz)$/.test(file)) throw new Error(`${file} must end in .tar.gz`);
  if (existsSync(file)) throw new Error(`${file} exists already: name another file`);
  const folder = existsSync(settings.data) ? settings.data : dirname(file);
  showSummary(await withScratchDirectory(folder, (scratch) => exportFrom(settings, file, scratch)));
}

async function exportFrom(settings: BackupSettings, file: string, scratch: string): Promise<ExportSummary> {
  const { space } = settings;
  const definitions = new Map<string, TypeDefinition>();
  const onEvents = (_count: number, events: readonly StoredEvent[]) => {
    for (const { type, data } of events) {
      if (type !== 'content-type-defined') continue;
      const definition = data as TypeDefinition;
      definitions.delete(definition.uid);
      definitions.set(definition.uid, definition);
    }
  };
  const replayed = join(scratch, 'graph.db');
  const { publicRights, login } = await withLog(settings, async (log) => {
    await replayGraph({ log, file: replayed, upTo: await log.lastPosition(), onEvents });
    return withLogin(await readAccessUpTo(log, space));
  });
  const address = assetsAddress(settings);
  const assets = isS3(address) || existsSync(address) ? await openAssetStore(address) : undefined;
  const graph = openContentGraph(replayed);
  try {
    return await exportArchive({
      file,
      scratch,
      graph,
      publicRights,
      login,
      assets,
      space,
      definitions: [...definitions.values()],
      at: new Date().toISOString(),
      version: STRAPI,
    });
  } finally {
    graph.close();
  }
}

function showSummary({ rows, links, files, passwords, missing }: ExportSummary): void {
  console.log(`${rows} rows, ${links} links and ${files} files, with smaller pictures`);
  if (passwords.length > 0)
    console.log(
      `these users need a new password in Strapi, which only checks bcrypt: ${passwords.join(', ')}`,
    );
  if (missing.length > 0) console.log(`these files have no content here: ${missing.join(', ')}`);
}
