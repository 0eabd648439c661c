import type { Logger } from 'pino';
import { METRICS } from '../../operating/metric-definitions.ts';
import type { Metrics } from '../../operating/metrics.ts';
import type { ApiConfig } from '../../project/read-api-config.ts';
import { MAX_PAGE } from '../../query/pagination.ts';
import type { RequestRules } from '../../query/plan-query.ts';
import type { ServeSettings } from './settings.ts';

/** Maximum number of ignored parameters whose names are logged. Callers can invent any number of names. */
const MAX_NAMES = 100;

type Observers = {
  readonly logger: Pick<Logger, 'warn'>;
  readonly metrics: Pick<Metrics, 'counter'> | undefined;
};

/** Returns whether an entry can be published only with its required relations and files, as `requestRules` does. */
export function requiresRelations({ strapi }: ServeSettings, project: ApiConfig | undefined): boolean {
  return strapi.strictRelations ?? project?.strictRelations ?? true;
}

/** Returns the rules for requests: from a setting, else from the project's configuration, else the default. */
export function requestRules(
  settings: ServeSettings['strapi'],
  project: ApiConfig | undefined,
  { logger, metrics }: Observers,
): RequestRules {
  if (project?.failure !== undefined)
    logger.warn(
      { file: project.file, reason: project.failure },
      "a part of the project's configuration cannot be read: Strapi's defaults are used instead",
    );
  const { maxOffset, strictParams = project?.strictParams ?? true } = settings;
  const strictDocuments = settings.strictParams ?? project?.strictDocuments ?? true;
  const rules = {
    defaultLimit: settings.defaultLimit ?? project?.defaultLimit ?? 25,
    // Strapi's template sets 100: the limit without a configuration. A configuration without a limit has none.
    maxLimit: settings.maxLimit ?? Math.min(project?.maxLimit ?? 100, MAX_PAGE),
    withCount: project?.withCount ?? true,
    maxOffset,
    // Strapi with strictParams refuses this parameter.
    populateDeep: !strictParams,
    lenientDocuments: !strictDocuments,
    containsIgnoresCase: settings.contains === 'case-insensitive',
  };
  const ignored = metrics?.counter(METRICS.ignoredParameters);
  if (strictParams) return rules;
  const named = new Set<string>();
  return {
    ...rules,
    ignoreParameter(parameter) {
      ignored?.add(1);
      if (named.has(parameter) || named.size === MAX_NAMES) return;
      named.add(parameter);
      logger.warn({ parameter: parameter.slice(0, 100) }, 'ignoring an unknown parameter');
    },
  };
}
