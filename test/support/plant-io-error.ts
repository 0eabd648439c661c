import { registerHooks } from 'node:module';
import { isMainThread } from 'node:worker_threads';

/**
 * Loaded into a server (NODE_OPTIONS). The projector fails once as with a broken disk, at an event that contains PLANTED_IO_ERROR. The file
 * that the variable PLANTED_ONCE names is removed then.
 */
export const PLANTED_IO_ERROR = 'planted-io-error';

const AFTER = 'const apply = async (events: readonly StoredEvent[], upTo: bigint): Promise<void> => {';
const BUG = `
  const { existsSync, rmSync } = process.getBuiltinModule('node:fs');
  const once = process.env.PLANTED_ONCE;
  if (existsSync(once) && events.some(({ data }) => JSON.stringify(data).includes('${PLANTED_IO_ERROR}'))) {
    rmSync(once);
    throw Object.assign(new Error('disk I/O error'), { code: 'ERR_SQLITE_ERROR', errcode: 10 });
  }
`;

if (isMainThread)
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (!url.endsWith('/projections/graph/projector.ts')) return loaded;
      const source = String(loaded.source);
      if (!source.includes(AFTER)) throw new Error('projector.ts has changed: plant the failure elsewhere');
      return { ...loaded, source: source.replace(AFTER, AFTER + BUG) };
    },
  });
