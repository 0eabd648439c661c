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

/** Opens Varve with the conformance types, in the process of the test and without HTTP. Close it before you remove the data. */
export function openInProcess(data: string, options: Partial<VarveOptions> = {}): Promise<Varve> {
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
  return openVarve({
    ...loaded,
    schemaWarnings: loaded.warnings,
    codeNotes: [],
    refuseLosses: () => {},
    data,
    pid: process.pid,
    space: 'varve',
    defaultLocale: 'en',
    usersEnvelope: true,
    readSide: embeddedReadSide({}),
    rules: {},
    uploadLimit: 1,
    uploadTypes: ['*/*'],
    pictureFormats: 'off',
    picturePixels: 1,
    leftWithoutFormats: () => {},
    answerCacheBytes: 2 ** 24,
    lifetime: { staleWhileRevalidate: 0, staleIfError: 0 },
    unwatched: () => {},
    minPositionWait: 1_000,
    presence: createPresence(),
    address: 'http://127.0.0.1:9',
    reportReplaced: () => {},
    fleetLog: {
      waiting: () => {},
      report: () => {},
      space: () => {},
      tidied: { removed: () => {}, failed: () => {} },
    },
    operating,
    processes: createProcessList(operating, null),
    ...options,
  });
}

/** Opens Varve, with the content of a caller with all rights and the remembered answers to such callers. */
export async function openWithKnownAnswers(data: string) {
  const varve = await openInProcess(data);
  const { content, delivery } = varve.apiFor(FULL_ACCESS);
  if (delivery.known === undefined) throw new Error('the embedded index remembers answers');
  return { varve, content, known: delivery.known };
}
