import type { EventStore } from '../../../shared/event-store/event-store.ts';
import { EVERY_TYPE } from '../../../shared/schema/add-synonyms.ts';
import type { SchemaRegistry } from '../../../shared/schema/schema-registry.ts';
import { requestOrOperator } from '../../command/current-author.ts';
import { createSynonymCommands, type SynonymCommands } from '../../synonyms/synonym-commands.ts';
import { parseGroups, requireTypeOf } from '../../synonyms/synonym-resources.ts';
import { quietLogger } from '../output/create-logger.ts';
import { lookAtLogOf, requireLog, withLog } from '../settings/access-log.ts';
import { readContentTypes } from '../settings/read-content-types.ts';
import { InvalidSettings, type SynonymSettings } from '../settings/settings.ts';
import { checkedForm } from './checked-form.ts';
import { readJsonInput } from './read-json-input.ts';

/** `varve synonyms list` */
export async function listSynonyms(settings: SynonymSettings): Promise<void> {
  requireLog(settings);
  const found = await lookAtLogOf(settings, (log) => commandsOn(log, settings).list());
  console.log(JSON.stringify(found, null, 2));
}

/** `varve synonyms set`: reads the groups from stdin. A running server uses them at once, because it reads the same log. */
export async function setSynonyms(settings: SynonymSettings, _options: object, uid: string): Promise<void> {
  requireLog(settings);
  const registry = await typesFor(uid, settings);
  const given = await readJsonInput('{"en": [["nyc", "new york city"]]}');
  const [type, groups] = checkedForm(
    () => [requireTypeOf('synonyms', uid, registry), parseGroups(given)] as const,
  );
  await withLog(settings, (log) => commandsOn(log, settings).set(type, groups));
  console.error(`Searches of ${type === EVERY_TYPE ? 'every type' : type} use these synonyms from now on.`);
}

/** Reads the content types, which only the synonyms of one type need. */
async function typesFor(
  uid: string,
  { contentTypes, ...settings }: SynonymSettings,
): Promise<Pick<SchemaRegistry, 'contentTypes'>> {
  if (uid === EVERY_TYPE) return { contentTypes: new Map() };
  if (contentTypes !== undefined)
    return (await readContentTypes({ ...settings, contentTypes }, await quietLogger())).registry;
  throw new InvalidSettings(
    '--content-types (VARVE_CONTENT_TYPES) is missing: <uid> names one of them, or * is every type',
  );
}

function commandsOn(log: EventStore, { space }: SynonymSettings): SynonymCommands {
  return createSynonymCommands({ log, space, now: Date.now, author: requestOrOperator });
}
