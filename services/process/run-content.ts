import { startProjector } from '../../projections/graph/projector.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { isForeign } from '../../shared/event-store/unreadable.ts';
import { createEffectiveEvents } from '../../shared/fleet/effective-events.ts';
import { isRecord } from '../../shared/json-record.ts';
import { USER_TYPE } from '../../shared/schema/content-type.ts';
import { watchContentTypes } from '../content-types/settle-content-types.ts';
import { createTypesEnd } from '../content-types/types-end.ts';
import { METRICS } from '../operating/metric-definitions.ts';
import { observeEventStore } from '../operating/observe-event-store.ts';
import { createDiskWatch } from './disk-watch.ts';
import { createHalt } from './halt.ts';
import type { Opened } from './opened.ts';
import type { OwnBase, OwnContent } from './own-content.ts';
import type { VarveOptions } from './process-options.ts';
import { openWriteSide, type WriteSide } from './write-side.ts';

/** A process with a data directory that applies the log to its content, and writes while it is the leader. */
export type RunningContent = ReturnType<typeof runContent>;

/** Applies the log, and joins the fleet: from now on this process may become the leader. */
export function runContent(options: VarveOptions, base: OwnBase, content: OwnContent, opened: Opened) {
  const {
    operating,
    fleet: { fleetLog },
  } = options;
  const { log, graph } = base.store;
  const { led } = content;
  const eventStore = observeEventStore(log, operating.metrics, operating.tracing);
  const types = watchContentTypes(graph, content.definitions);
  const typesEnd = createTypesEnd(createEffectiveEvents(log, options.data.space));
  const heard = countForeign(options);
  const halt = createHalt({
    operating,
    stopped(event) {
      fleetLog.report({ kind: 'halted', event });
      // Never rejects: a lease that cannot be returned is reported.
      void writeSide.fleet.stepDown().then(led.standBy);
    },
  });
  const diskWatch = createDiskWatch((what, error) => {
    fleetLog.space(what, error);
    // In this state no lease is claimed, so reads need not wait for one.
    if (what === 'full' && writeSide.fleet.epoch() === undefined) led.standBy();
  });
  const projector = startProjector({
    eventStore,
    graph,
    readIndex: content.sink,
    endsBefore: typesEnd.isBehind,
    stopped: (event) => typesEnd.reached(event) || halt.stop(event),
    waiting: diskWatch.graphWaits,
    applied(events) {
      heard(events);
      types.apply(events);
      content.view.apply(events);
      base.callers.access.usersChanged(changedUsers(events));
    },
  });
  // The projector is closed last, so that a failure which the other parts notice during the close does not count.
  for (const part of [projector, led, types]) opened(part);
  const writeSide: WriteSide = openWriteSide(options, {
    base,
    content,
    projector,
    eventStore: diskWatch.watchAppends(eventStore),
    diskWatch,
  });
  opened({ close: () => writeSide.fleet.stepDown() });
  return { ...writeSide, projector, types, typesEnd, halt, diskWatch };
}

/** Returns the users whose rights the events may have changed, by documentId. */
function changedUsers(events: readonly StoredEvent[]): ReadonlySet<string> {
  const users = events.flatMap(({ data }) => (isRecord(data) && data['type'] === USER_TYPE ? [data] : []));
  return new Set(users.map(({ documentId }) => String(documentId)));
}

/** Counts and reports events of other programs, which are skipped. */
function countForeign({
  operating,
  fleet: { fleetLog },
}: VarveOptions): (events: readonly StoredEvent[]) => void {
  const count = operating.metrics?.counter(METRICS.foreignEvents);
  return (events) => {
    const foreign = events.filter(isForeign);
    count?.add(foreign.length);
    if (foreign.length > 0) fleetLog.report({ kind: 'foreign', events: foreign });
  };
}
