import type { Logger } from 'pino';
import { METRICS } from '../operating/metric-definitions.ts';
import type { Metrics } from '../operating/metrics.ts';
import type { RequestRules } from '../query/plan-query.ts';
import type { ServeSettings } from './settings.ts';

/** Names of ignored parameters that are logged; callers can make up any number. */
const MAX_NAMES = 100;

/** The rules for requests that the settings give. */
export function requestRules(
  settings: Pick<ServeSettings, 'strictParams' | 'defaultLimit' | 'maxLimit' | 'contains' | 'maxOffset'>,
  logger: Pick<Logger, 'warn'>,
  metrics: Pick<Metrics, 'counter'> | undefined,
): RequestRules {
  const { defaultLimit, maxLimit, maxOffset } = settings;
  const rules = {
    ...{ defaultLimit, maxLimit, maxOffset },
    containsIgnoresCase: settings.contains === 'case-insensitive',
  };
  const ignored = metrics?.counter(METRICS.ignoredParameters);
  if (settings.strictParams) return rules;
  const named = new Set<string>();
  return {
    ...rules,
    ignoreParameter(parameter) {
      ignored?.add(1);
      if (named.has(parameter) || named.size === MAX_NAMES) return;
      named.add(parameter);
      logger.warn({ parameter: parameter.slice(0, 100) }, 'an unknown parameter is ignored');
    },
  };
}
