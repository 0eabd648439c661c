import { packageVersion } from '../../../shared/package-version.ts';
import { readDatabaseClient } from '../../project/read-database-client.ts';
import type { SettingsInForce } from '../../state/settings-in-force.ts';
import { type ProcessRole, ROLE_SETTINGS } from '../settings/roles.ts';
import { describeSettings, type SettingOrigins } from '../settings/setting-origins.ts';
import type { ServerPlan } from './server-plan.ts';

/** Returns the settings that are in force in a server, and what of its project it does not serve. */
export function shownSettings(
  plan: ServerPlan,
  role: ProcessRole,
  origins: SettingOrigins,
): () => SettingsInForce {
  const { contentTypes, project } = plan;
  return () => ({
    role,
    version: packageVersion(),
    settings: describeSettings(ROLE_SETTINGS[role], origins, valuesOfProject(plan)),
    project: project === undefined ? null : describeProject(project),
    schemas: contentTypes.schemaWarnings,
    code: contentTypes.codeNotes,
  });
}

function describeProject(project: NonNullable<ServerPlan['project']>): SettingsInForce['project'] {
  const { file, prefix, withCount, privateAttributes, failure = null } = project;
  return { file, prefix, withCount, privateAttributes, failure };
}

/** Returns the values that the project's configuration has for settings, by name. A setting that is given wins. */
function valuesOfProject({ project, pages, settings }: ServerPlan): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  if (project !== undefined) {
    values.set('strictParams', String(project.strictParams));
    values.set('strictRelations', String(project.strictRelations));
    if (Number.isFinite(project.defaultLimit)) values.set('defaultLimit', String(project.defaultLimit));
    if (Number.isFinite(project.maxLimit)) values.set('maxLimit', String(project.maxLimit));
  }
  if (pages.file !== undefined) values.set('cors', pages.origins.join(','));
  const client = readDatabaseClient(settings.content.contentTypes);
  if (client !== undefined) values.set('timeMilliseconds', String(client === 'sqlite'));
  return values;
}
