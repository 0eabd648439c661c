import { catchUpOrThrow } from '../../../projections/graph/projector.ts';
import { upcast } from '../../../shared/events/upcasters.ts';
import type { OpenedHere } from '../../operator/open-operations.ts';
import type { OperatorContext } from '../../operator/operation.ts';
import { runOperation } from '../../operator/operations.ts';
import { finishSwitch } from '../../read-side/finish-switch.ts';
import { openServedGenerations } from '../../read-side/open-generations.ts';
import type { ReadSide } from '../../read-side/read-side.ts';
import { replaceUnusable } from '../../read-side/replace-unusable.ts';
import { logAddress, openEventStore } from '../../stores/open-event-store.ts';
import { quietLogger } from '../output/create-logger.ts';
import { printReplaced } from '../output/log-reports.ts';
import { chooseReadSide } from '../settings/read-side.ts';
import type { OperatorSettings } from '../settings/settings.ts';
import { refuseWhereOthersLead } from './refuse-where-others-lead.ts';

/** Opens an unused data directory for operations of this process. Called after it is locked. */
export async function openHere(settings: OperatorSettings): Promise<OpenedHere> {
  const { data, space } = settings;
  const logger = await quietLogger();
  const plan = await chooseReadSide(settings, logger);
  const log = await openEventStore(logAddress(settings), { space, decode: upcast });
  await replaceUnusable({ data, log, report: printReplaced });
  await finishSwitch(data, plan);
  const refuseElsewhere = () => refuseWhereOthersLead(log, space);
  const generations = openServedGenerations({ data, log, plan, refuseElsewhere });
  const { graph } = generations;
  let readSide: Promise<ReadSide> | undefined;
  const openReadSide = async () => {
    await catchUpOrThrow(log, graph);
    const opened = await generations.openReadSide();
    // No other process has the directory, so this one writes.
    await opened.lead(0);
    return opened;
  };
  const context: OperatorContext = {
    data,
    space,
    log,
    graph,
    generations,
    server: undefined,
    schemaWarnings: [],
    codeNotes: [],
    readSide() {
      readSide ??= openReadSide();
      return readSide;
    },
  };
  return {
    run: (name, request, signal) => runOperation(context, name, request, signal),
    async close() {
      await readSide?.then((opened) => opened.close());
      await generations.close();
      await log.close();
    },
  };
}
