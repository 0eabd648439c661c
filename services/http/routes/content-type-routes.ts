import type { ServedReleases } from '../../releases/open-releases.ts';
import { type RouteContext, registerCollectionType, registerSingleType } from './entry-routes.ts';
import { type HistoryRoutesOptions, registerHistory } from './history-routes.ts';
import { scheduledOr } from './scheduled-actions.ts';

type ContentTypeRoutes = HistoryRoutesOptions & { readonly releases?: ServedReleases | undefined };

/** Registers the paths of all content types of the project, and of the history of their documents. */
export function registerContentTypes(context: RouteContext, options: ContentTypeRoutes): void {
  for (const type of context.registry.contentTypes.values()) {
    if (type.builtIn) continue;
    if (type.kind === 'singleType') registerSingleType(context, type);
    else
      registerCollectionType(context, type, (atOnce, action) =>
        action === 'discard-draft' ? atOnce : scheduledOr(atOnce, options, { type, action }),
      );
  }
  registerHistory(context, options);
}
