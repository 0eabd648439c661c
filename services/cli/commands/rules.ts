import { requestOrOperator } from '../../command/current-author.ts';
import { parseRules } from '../../synonyms/rule-resources.ts';
import { createSynonymCommands } from '../../synonyms/synonym-commands.ts';
import { requireTypeOf } from '../../synonyms/synonym-resources.ts';
import { quietLogger } from '../output/create-logger.ts';
import { lookAtLogOf, requireLog, withLog } from '../settings/access-log.ts';
import { readContentTypes } from '../settings/read-content-types.ts';
import { InvalidSettings, type SynonymSettings } from '../settings/settings.ts';
import { checkedForm } from './checked-form.ts';
import { readJsonInput } from './read-json-input.ts';

/** `varve rules list` */
export async function listRules(settings: SynonymSettings): Promise<void> {
  requireLog(settings);
  const { space } = settings;
  const found = await lookAtLogOf(settings, (log) =>
    createSynonymCommands({ log, space, now: Date.now, author: requestOrOperator }).listRules(),
  );
  console.log(JSON.stringify(found, null, 2));
}

/** `varve rules set`: reads the rules from stdin. A running server uses them at once, because it reads the same log. */
export async function setRules(settings: SynonymSettings, _options: object, uid: string): Promise<void> {
  requireLog(settings);
  const { contentTypes, space } = settings;
  if (contentTypes === undefined)
    throw new InvalidSettings('--content-types (VARVE_CONTENT_TYPES) is missing: <uid> names one of them');
  const { registry } = await readContentTypes({ ...settings, contentTypes }, await quietLogger());
  const given = await readJsonInput('[{"when": "sale", "pin": ["hxyet06r8x1yfw6c4tu66osa"]}]');
  const rules = checkedForm(() => parseRules(given, requireTypeOf('rules', uid, registry), registry));
  await withLog(settings, (log) =>
    createSynonymCommands({ log, space, now: Date.now, author: requestOrOperator }).setRules(uid, rules),
  );
  console.error(`Searches of ${uid} use these rules from now on.`);
}
