import { type CommandRow, command, commandsOf, JSON_OPTION } from './settings/command.ts';
import { LOG_SETTINGS } from './settings/data-settings.ts';
import {
  OPERATOR_SETTINGS,
  SYNONYM_SETTINGS,
  TOKEN_SETTINGS,
  WEBHOOK_COMMAND_SETTINGS,
} from './settings/settings.ts';
import { TYPES_SETTINGS } from './settings/types-settings.ts';

export const COMMAND_GROUPS = {
  token: 'create, list and revoke access tokens',
  webhook: 'manage webhooks, which notify other servers of changed content',
  release: 'publish and unpublish entries together, now or at a time',
  synonyms: 'list and set synonyms of searches',
  rules: 'list and set rules for searches with certain words',
  searches: 'list and remove the counts of what people look for',
  parked: 'list, retry and drop documents that the read index refused',
  types: 'compare content types with stored entries',
  assets: 'make missing smaller pictures of uploaded files',
} as const;

const token = commandsOf(TOKEN_SETTINGS, () => import('./commands/token.ts'));
const webhook = commandsOf(WEBHOOK_COMMAND_SETTINGS, () => import('./commands/webhook.ts'));
const release = commandsOf(OPERATOR_SETTINGS, () => import('./commands/release.ts'));
const synonyms = commandsOf(SYNONYM_SETTINGS, () => import('./commands/synonyms.ts'));
const rules = commandsOf(SYNONYM_SETTINGS, () => import('./commands/rules.ts'));
const searches = commandsOf(LOG_SETTINGS, () => import('./commands/searches.ts'));
const parked = commandsOf(OPERATOR_SETTINGS, () => import('./commands/parked.ts'));

const RELEASE_TIME = [
  ['--at <time>', 'an instant such as 2031-12-24T08:00:00+01:00, or a local time with --timezone'],
  ['--timezone <name>', 'time zone of --at, such as Europe/Berlin'],
] as const;

/** The commands whose names begin with that of a group. */
export const GROUPED_COMMANDS: readonly CommandRow[] = [
  token({
    name: 'token create',
    description: 'create a token and show it once',
    options: [
      ['--name <name>', 'name of the token', 'required'],
      ['--type <type>', 'read-only, full-access or custom', 'required'],
      ['--allow <rights>', 'rights of a custom token, such as restaurant.find,chef.*'],
      ['--drafts', 'let the token see drafts'],
      ['--history', 'let the token see earlier versions, and documents that were deleted'],
      ['--expires <time>', 'time or date of expiry, such as 12h, 30d, 4w or 2030-01-31 (default: never)'],
      ['--token-stdin', 'read the token from stdin, for example a Strapi token that clients already use'],
    ],
    run: ({ createToken }) => createToken,
  }),
  token({
    name: 'token list',
    description: 'list all tokens, including revoked ones',
    run: ({ listTokens }) => listTokens,
  }),
  token({
    name: 'token revoke',
    description: 'revoke a token; every process refuses it within a second',
    argument: ['<id-or-name>'],
    run: ({ revokeToken }) => revokeToken,
  }),
  webhook({
    name: 'webhook add',
    description: 'add a webhook and show its secret once',
    argument: ['<url>', 'URL of the receiver'],
    options: [
      ['--name <name>', 'name of the webhook (default: the host of the URL)'],
      [
        '--events <events>',
        'events to send, such as entry.publish,entry.delete (default: all that Strapi has)',
      ],
      ['--types <uids>', 'content types whose events are sent, such as api::tag.tag (default: all)'],
      ['--locales <locales>', 'locales whose events are sent, such as en,it (default: all)'],
      ['--populate <paths>', 'relations to send, in the form of populate in a query (default: *)'],
      ['--header <line...>', 'additional header to send, such as "X-Secret: abc"'],
      ['--allow-private', 'allow a URL in a private network'],
      JSON_OPTION,
    ],
    run: ({ addWebhook }) => addWebhook,
  }),
  webhook({
    name: 'webhook list',
    description: 'list all webhooks',
    options: [JSON_OPTION],
    run: ({ listWebhooks }) => listWebhooks,
  }),
  webhook({
    name: 'webhook pause',
    description: 'pause a webhook; its deliveries wait until varve webhook resume',
    argument: ['<id-or-name>'],
    run: ({ changeWebhook }) => changeWebhook('pauseWebhook'),
  }),
  webhook({
    name: 'webhook resume',
    description:
      'resume a webhook and send its waiting deliveries; a disabled webhook starts with new changes',
    argument: ['<id-or-name>'],
    run: ({ changeWebhook }) => changeWebhook('resumeWebhook'),
  }),
  webhook({
    name: 'webhook remove',
    description: 'remove a webhook and its deliveries',
    argument: ['<id-or-name>'],
    run: ({ changeWebhook }) => changeWebhook('removeWebhook'),
  }),
  webhook({
    name: 'webhook rotate',
    description:
      'create a new secret and show it once; deliveries are also signed with the old one for a day',
    argument: ['<id-or-name>'],
    options: [JSON_OPTION],
    run: ({ changeWebhook }) => changeWebhook('rotateWebhook'),
  }),
  webhook({
    name: 'webhook test',
    description: 'send the event trigger-test to the receiver from this machine',
    argument: ['<id-or-name>'],
    options: [JSON_OPTION],
    run: ({ testReceiver }) => testReceiver,
  }),
  webhook({
    name: 'webhook deliveries',
    description: 'list stored deliveries, newest first',
    argument: ['[id-or-name]'],
    options: [
      [
        '--state <state>',
        'only deliveries in this state: waiting, delivered, parked or elsewhere (default: all)',
      ],
      JSON_OPTION,
    ],
    run: ({ listDeliveries }) => listDeliveries,
  }),
  webhook({
    name: 'webhook replay',
    description: 'send deliveries again: the parked ones, a single one, or all since a position of the log',
    argument: ['<id-or-name>'],
    options: [
      ['--delivery <id>', 'only this delivery'],
      ['--from <position>', 'all since this position of the log, including delivered ones'],
    ],
    run: ({ replayWebhook }) => replayWebhook,
  }),
  release({
    name: 'release list',
    description: 'list releases, the newest first',
    options: [JSON_OPTION],
    run: ({ listReleases }) => listReleases,
  }),
  release({
    name: 'release show',
    description: 'show a release, its entries, and why entries would be refused',
    argument: ['<id>'],
    options: [JSON_OPTION],
    run: ({ showRelease }) => showRelease,
  }),
  release({
    name: 'release create',
    description: 'create a release without entries, and print its id',
    argument: ['<name>'],
    options: [...RELEASE_TIME, JSON_OPTION],
    run: ({ createRelease }) => createRelease,
  }),
  release({
    name: 'release change',
    description: 'change the name or the time of a release',
    argument: ['<id>'],
    options: [['--name <name>', 'new name'], ...RELEASE_TIME, JSON_OPTION],
    run: ({ changeRelease }) => changeRelease,
  }),
  release({
    name: 'release add',
    description: 'add entries to a release; those that it has stay as they are',
    argument: ['<id>'],
    options: [
      ['--type <uid>', 'content type of the entries, such as api::article.article', 'required'],
      ['--entries <documentIds>', 'entries, separated by commas (default: the entry of a single type)'],
      ['--locale <locale>', 'locale of the entries; *: all (default: the default locale)'],
      ['--unpublish', 'unpublish the entries instead'],
      JSON_OPTION,
    ],
    run: ({ addEntries }) => addEntries,
  }),
  release({
    name: 'release remove',
    description: 'remove an entry from a release',
    argument: ['<id>'],
    options: [
      ['--action <id>', 'id of the action, as varve release show prints it', 'required'],
      JSON_OPTION,
    ],
    run: ({ removeEntry }) => removeEntry,
  }),
  release({
    name: 'release publish',
    description: 'carry a release out now',
    argument: ['<id>'],
    options: [JSON_OPTION],
    run: ({ publishRelease }) => publishRelease,
  }),
  release({
    name: 'release cancel',
    description: 'take the time of a release away; it stays, with its entries',
    argument: ['<id>'],
    options: [JSON_OPTION],
    run: ({ cancelRelease }) => cancelRelease,
  }),
  release({
    name: 'release delete',
    description: 'delete a release that was not carried out; its entries stay as they are',
    argument: ['<id>'],
    options: [JSON_OPTION],
    run: ({ deleteRelease }) => deleteRelease,
  }),
  synonyms({
    name: 'synonyms list',
    description: 'list the synonyms that were set, as JSON by content type and locale',
    run: ({ listSynonyms }) => listSynonyms,
  }),
  synonyms({
    name: 'synonyms set',
    description: 'replace the synonyms that were set for a content type by JSON from stdin; {} removes them',
    argument: ['<uid>', 'a content type such as api::restaurant.restaurant; * is every type'],
    run: ({ setSynonyms }) => setSynonyms,
  }),
  rules({
    name: 'rules list',
    description: 'list the rules for searches with certain words, as JSON by content type',
    run: ({ listRules }) => listRules,
  }),
  rules({
    name: 'rules set',
    description: 'replace the rules for searches of a content type by JSON from stdin; [] removes them',
    argument: ['<uid>', 'a content type such as api::restaurant.restaurant'],
    run: ({ setRules }) => setRules,
  }),
  searches({
    name: 'searches list',
    description: 'list what people look for: the first 100 queries of an order, with their counts',
    options: [
      ['--days <number>', 'days until today, in UTC (default: 7)'],
      ['--type <uid>', 'only searches of this content type'],
      ['--order <order>', 'count, none (found nothing), corrected or clicks (default: count)'],
      JSON_OPTION,
    ],
    run: ({ listSearchesHere }) => listSearchesHere,
  }),
  searches({
    name: 'searches clear',
    description: 'remove the counts of all searches; a running server continues to count',
    run: ({ clearSearches }) => clearSearches,
  }),
  parked({
    name: 'parked list',
    description: 'list parked documents with their reasons',
    options: [JSON_OPTION],
    run: ({ listParked }) => listParked,
  }),
  parked({
    name: 'parked show',
    description: 'show a parked document with its row',
    argument: ['<item-or-document>'],
    run: ({ showParked }) => showParked,
  }),
  parked({
    name: 'parked retry',
    description: 'write parked documents to the read index again',
    argument: ['[items-or-documents...]'],
    options: [['--all', 'all parked documents']],
    run: ({ decideParked }) => decideParked('retry'),
  }),
  parked({
    name: 'parked drop',
    description: 'remove parked documents from the list; the index stays as it is',
    argument: ['[items-or-documents...]'],
    options: [['--all', 'all parked documents']],
    run: ({ decideParked }) => decideParked('drop'),
  }),
  command({
    name: 'types diff',
    description:
      'show what a start with these content types would do to how many entries, and write nothing; the exit code is 1 if the start would be refused',
    options: [JSON_OPTION],
    settings: TYPES_SETTINGS,
    load: async () => (await import('./commands/types.ts')).showTypesDiff,
  }),
  command({
    name: 'assets formats',
    description: 'make the smaller pictures of uploaded files that have none, in the running server',
    settings: OPERATOR_SETTINGS,
    load: async () => (await import('./commands/asset-formats.ts')).makeAssetFormats,
  }),
];
