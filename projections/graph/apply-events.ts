import type { ContentTypeDefined } from '../../shared/document/events.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { refuseUnreadable } from '../../shared/event-store/unreadable.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import { applyDocumentEvent, isDocumentEvent } from './apply/apply-event.ts';
import type { GraphContext, Moment } from './apply/graph-context.ts';
import type { Redefinition } from './convert/convert-entry.ts';
import { convertTypes } from './convert/convert-types.ts';
import { contextOf, type GraphParts } from './graph-parts.ts';
import type { SchemaView } from './store/type-view.ts';

/** Applies events to the rows and links of a graph, inside a transaction. Throws if one does not fit or cannot be read. */
export function applyEvents(parts: GraphParts, events: readonly StoredEvent[]): void {
  const series = createSeries(parts);
  for (const event of events) {
    refuseUnreadable(event);
    if (parts.foreign.skip(event) || !parts.claims.admit(event)) continue;
    if (isDocumentEvent(event)) {
      applyDocumentEvent(series.context(), event);
      parts.commands.note(event);
    } else if (event.type === 'content-type-defined') series.define(event);
  }
  series.context();
  series.end();
}

/** Writes what a context still has in memory. */
export function endContext({ session, flush }: GraphContext): void {
  session.flush();
  flush();
}

/** Creates a series: events between two changes of content types. The rows are converted when the next context is requested. */
function createSeries(parts: GraphParts) {
  const { definitions } = parts;
  let context: GraphContext | undefined;
  let before: SchemaView | undefined;
  let redefined = new Map<Uid, Redefinition>();
  let definedAt: Moment = { at: '', position: 0 };
  const series = {
    context(): GraphContext {
      if (context !== undefined) return context;
      context = contextOf(parts);
      if (before !== undefined && redefined.size > 0)
        convertTypes(context, redefined.values(), before, definedAt);
      before = undefined;
      redefined = new Map();
      return context;
    },
    define(event: StoredEvent): void {
      const data = event.data as ContentTypeDefined['data'];
      // Applies one change after the other, however the log is split. A value that the first one drops must not return with the second.
      if (redefined.has(data.uid)) series.context();
      // Finishes earlier changes under their own definitions.
      series.end();
      before ??= definitions.view();
      definedAt = { at: event.metadata.at, position: Number(event.position) };
      const replaced = definitions.define(data, definedAt.position);
      if (replaced !== undefined) redefined.set(data.uid, { before: replaced, now: data });
    },
    end(): void {
      if (context !== undefined) endContext(context);
      context = undefined;
    },
  };
  return series;
}
