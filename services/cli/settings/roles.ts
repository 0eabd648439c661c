import { PAST_SETTINGS } from './past-settings.ts';
import { PURGE_SETTINGS } from './purge-settings.ts';
import type { SettingsTable } from './setting.ts';
import { SERVE_SETTINGS } from './settings.ts';
import { WEBHOOK_SETTINGS } from './webhook-settings.ts';

/**
 * Role of a process. `serve`: everything. `project`: can become leader, and then writes Elasticsearch; accepts writes and answers no reads.
 * `api`: reads from Elasticsearch and forwards writes to the leader; stores nothing.
 */
export type ProcessRole = 'serve' | 'project' | 'api';

/** Settings for tags, which only a process that answers reads needs. */
const TAGS = ['cacheTags', 'cacheTagsBytes', 'cacheTagsPlain'] as const;

/** Settings of a role: all settings of `varve serve` that apply to it. The other settings have their defaults. */
export const ROLE_SETTINGS: Readonly<Record<ProcessRole, SettingsTable>> = {
  serve: SERVE_SETTINGS,
  project: without(
    ...(['examples', 'queryTimeLimit', 'defaultLimit', 'maxLimit', 'maxOffset'] as const),
    ...(['minPositionWait', 'readIndexRowCache', 'workers'] as const),
    ...(['answerCacheBytes', 'cacheStaleWhileRevalidate', 'cacheStaleIfError'] as const),
    ...TAGS,
    'searchLogDays',
  ),
  api: without(
    ...(['advertise', 'examples', 'queryTimeLimit', 'readyLagSeconds', 'workers'] as const),
    ...(['readIndexReplicas', 'readIndexShards', 'uploadLimit', 'uploadTypes'] as const),
    ...(['pictureFormats', 'picturePixels'] as const),
    'answerCacheBytes',
    // It has no data directory for the counts.
    'searchLogDays',
    // The leader answers for it.
    ...namesOf(PAST_SETTINGS),
    // Only processes with a data directory change content types.
    'acceptLoss',
    // It cannot read users, so it checks only the tokens of identity providers.
    ...(['login', 'jwtSecretFile', 'jwtExpires', 'jwtManagement', 'loginRateLimit'] as const),
    ...(['registerFields', 'rehash', 'publicUrl', 'mail', 'mailFrom'] as const),
    // The leader reads Strapi. This process forwards writes and webhooks.
    ...(['followToken', 'followTokenFile', 'followFrom'] as const),
    ...(['followInterval', 'followRate', 'followDeletions'] as const),
    // The leader delivers webhooks and purges, because it knows the effects of a change.
    ...namesOf(WEBHOOK_SETTINGS),
    ...namesOf(PURGE_SETTINGS),
  ),
};

function without(...names: readonly (keyof typeof SERVE_SETTINGS)[]): SettingsTable {
  const dropped = new Set<string>(names);
  return Object.fromEntries(Object.entries(SERVE_SETTINGS).filter(([name]) => !dropped.has(name)));
}

function namesOf<Table extends SettingsTable>(table: Table): readonly (keyof Table)[] {
  return Object.keys(table);
}
