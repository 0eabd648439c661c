import { type ContentTypeDefined, isDocumentEvent } from '../../shared/document/events.ts';
import type { DocumentErased } from '../../shared/erasure/erasure-events.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { refuseUnreadable } from '../../shared/event-store/unreadable.ts';
import { applyDocumentEvent } from './apply/apply-event.ts';
import type { GraphContext } from './apply/graph-context.ts';
import { convertType, type TypeChange } from './convert/convert-type.ts';
import { contextOf, type GraphParts } from './graph-parts.ts';
import { forgetErased } from './store/forget-erased.ts';

/** Applies events to the rows and links of a graph, inside a transaction. Throws if one does not fit or cannot be read. */
export function applyEvents(parts: GraphParts, events: readonly StoredEvent[]): void {
  const series = createSeries(parts);
  for (const event of events) {
    refuseUnreadable(event);
    if (parts.foreign.skip(event) || !parts.claims.add(event)) continue;
    if (isDocumentEvent(event)) {
      applyDocumentEvent(series.context(), event);
      parts.commands.note(event);
    } else if (event.type === 'content-type-defined') series.define(event);
    else if (event.type === 'document-erased') {
      series.context();
      series.end();
      forgetErased(parts.db, event.data as DocumentErased['data']);
    }
  }
  series.context();
  series.end();
}

/** Writes what a context still has in memory. */
function endContext({ session, flush }: GraphContext): void {
  session.flush();
  flush();
}

/**
 * Creates a series: events between two changes of content types. Each change is applied before the next one, so that a graph does not
 * depend on how the log is split. The rows are converted when the next context is requested.
 */
function createSeries(parts: GraphParts) {
  const { definitions } = parts;
  let context: GraphContext | undefined;
  let change: TypeChange | undefined;
  const series = {
    context(): GraphContext {
      if (context !== undefined) return context;
      context = contextOf(parts);
      if (change !== undefined) convertType(context, change);
      change = undefined;
      return context;
    },
    define(event: StoredEvent): void {
      if (change !== undefined) series.context();
      // Finishes earlier changes under their own definitions.
      series.end();
      const now = event.data as ContentTypeDefined['data'];
      const moment = { at: event.metadata.at, position: Number(event.position) };
      const replaced = definitions.define(now, moment.position);
      change = replaced && { ...replaced, now, moment };
    },
    end(): void {
      if (context !== undefined) endContext(context);
      context = undefined;
    },
  };
  return series;
}
