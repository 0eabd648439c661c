import pino from 'pino';
import { createPresence } from '../../services/fleet/presence.ts';
import { createOperating } from '../../services/operating/operating.ts';
import { openVarve, type Varve } from '../../services/process/open-varve.ts';
import type { VarveOptions } from '../../services/process/process-options.ts';
import { embeddedReadSide } from '../../services/read-side/embedded-read-side.ts';
import { createProcessList } from '../../services/state/process-list.ts';
import { FULL_ACCESS } from '../../shared/access/rights.ts';
import { loadContentTypes } from '../../shared/schema/load-content-types.ts';
import { CONFORMANCE_SCHEMA } from './server.ts';

/** Members of options that a test replaces, by group. */
export type OptionsForTest = { readonly [Group in keyof VarveOptions]?: Partial<VarveOptions[Group]> };

/** Opens Varve with the conformance types, in the process of the test and without HTTP. Close it before you remove the data. */
export function openInProcess(data: string, options: OptionsForTest = {}): Promise<Varve> {
  const loaded = loadContentTypes(CONFORMANCE_SCHEMA);
  if (loaded.kind === 'problems') throw new Error(JSON.stringify(loaded.problems));
  const logger = pino({ level: 'silent' });
  const operating = createOperating({
    metrics: false,
    restarts: 0,
    role: 'serve',
    tracing: undefined,
    logger,
    slowQueryMs: 0,
    readyLagSeconds: 30,
    version: '0.0.0',
  });
  const usual: VarveOptions = {
    content: {
      ...loaded,
      schemaWarnings: loaded.warnings,
      codeNotes: [],
      refuseLosses: () => {},
      defaultLocale: 'en',
    },
    data: { data, space: 'varve', reportReplaced: () => {} },
    access: {},
    strapi: { usersEnvelope: true, rules: {} },
    caches: {
      answerCacheBytes: 2 ** 24,
      lifetime: { staleWhileRevalidate: 0, staleIfError: 0 },
      unwatched: () => {},
    },
    readSide: embeddedReadSide({}),
    files: {
      uploadLimit: 1,
      uploadTypes: ['*/*'],
      pictureFormats: 'off',
      picturePixels: 1,
      leftWithoutFormats: () => {},
    },
    fleet: {
      minPositionWait: 1_000,
      presence: createPresence(),
      address: 'http://127.0.0.1:9',
      fleetLog: {
        waiting: () => {},
        report: () => {},
        space: () => {},
        erasing: () => {},
        tidied: { removed: () => {}, failed: () => {} },
      },
    },
    operating,
    worker: { pid: process.pid, processes: createProcessList(operating, null) },
  };
  const replaced = Object.entries(options).map(([group, members]) => [
    group,
    { ...usual[group as keyof VarveOptions], ...members },
  ]);
  return openVarve({ ...usual, ...Object.fromEntries(replaced) });
}

/** Opens Varve, with the content of a caller with all rights and the remembered answers to such callers. */
export async function openWithKnownAnswers(data: string) {
  const varve = await openInProcess(data);
  const { content, delivery } = varve.apiFor(FULL_ACCESS);
  if (delivery.known === undefined) throw new Error('the embedded index remembers answers');
  return { varve, content, known: delivery.known };
}
