import type { EventStore, StoredEvent } from '../../shared/event-store/event-store.ts';
import { METRICS } from './metric-definitions.ts';
import type { Metrics } from './metrics.ts';
import { inSpan, type Tracing } from './tracing.ts';

/** Returns `log` with measured and traced appends and subscriptions, for the command handler and the projector. */
export function observeEventStore(
  log: EventStore,
  metrics: Metrics | undefined,
  tracing: Tracing | undefined,
): EventStore {
  const appends = metrics?.durations(METRICS.appends).series();
  const conflicts = metrics?.counter(METRICS.appendConflicts);
  const batches = metrics?.durations(METRICS.projectedBatches).series();
  const projected = metrics?.counter(METRICS.projectedEvents);
  return {
    ...log,
    async append(stream, expected, events, condition) {
      const started = performance.now();
      const attributes = { 'varve.stream': stream, 'varve.events': events.length };
      const append = () => log.append(stream, expected, events, condition);
      const result = await inSpan(tracing, 'append', attributes, append);
      if (result.kind === 'conflict') conflicts?.add(1);
      if (result.kind === 'appended') appends?.observe(performance.now() - started);
      return result;
    },
    subscribe(after, handle, options) {
      const project = async (events: readonly StoredEvent[], upTo: bigint) => {
        if (events.length === 0) return handle(events, upTo);
        const started = performance.now();
        const position = String(upTo);
        const attributes = { 'varve.events': events.length, 'varve.position': position };
        await inSpan(tracing, 'project', attributes, () => handle(events, upTo));
        batches?.observe(performance.now() - started);
        projected?.add(events.length);
      };
      return log.subscribe(after, project, options);
    },
  };
}
