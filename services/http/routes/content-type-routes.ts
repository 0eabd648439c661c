import { type RouteContext, registerCollectionType, registerSingleType } from './entry-routes.ts';
import { type HistoryRoutesOptions, registerHistory } from './history-routes.ts';

/** Registers the paths of all content types of the project, and of the history of their documents. */
export function registerContentTypes(context: RouteContext, history: HistoryRoutesOptions): void {
  for (const type of context.registry.contentTypes.values()) {
    if (type.builtIn) continue;
    if (type.kind === 'singleType') registerSingleType(context, type);
    else registerCollectionType(context, type);
  }
  registerHistory(context, history);
}
