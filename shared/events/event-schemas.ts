import * as z from 'zod';
import { TOKEN_TYPES } from '../access/access-events.ts';
import { EARLIER_WEBHOOK_EVENTS, WEBHOOK_EVENTS } from '../webhooks/webhook-events.ts';
import type { EventType } from './event-versions.ts';
import { RELEASE_SCHEMAS } from './release-schemas.ts';
import { SEARCH_SCHEMAS } from './search-schemas.ts';

/**
 * Schemas of the data of every version of every event type, as stored. docs/events/ has them as JSON Schema. A released version never
 * changes: a new field makes a new version of its type. If readers then need more than the old version has, there is an upcast
 * (shared/events/upcasters.ts).
 */

const uid = z.string().describe('A content type or component, such as `api::tag.tag`');
const locale = z.string().nullable().describe('null on content types without i18n');
const document = { type: uid, documentId: z.string(), locale };

const linkTarget = z.strictObject({ documentId: z.string(), locale });
const linkPlace = z.union([
  z.strictObject({ at: z.enum(['start', 'end']) }),
  z.strictObject({ at: z.enum(['before', 'after']), documentId: z.string(), locale }),
]);
const relationOperation = z.union([
  z.strictObject({ attribute: z.string(), kind: z.literal('set'), targets: z.array(linkTarget) }),
  z.strictObject({
    attribute: z.string(),
    kind: z.literal('update'),
    disconnect: z.array(linkTarget).describe('Removed first'),
    connect: z
      .array(z.strictObject({ target: linkTarget, place: linkPlace }))
      .describe('Then added in order; a target that is linked already moves'),
  }),
]);

const entry = {
  ...document,
  values: z
    .record(z.string(), z.unknown())
    .describe(
      'Values by attribute; null clears. A component is an object, its relations are lists of targets',
    ),
  shared: z.array(z.string()).describe('Names in `values` and `relations` that all locales share'),
  relations: z.array(relationOperation),
};

const created = z.strictObject({
  ...entry,
  id: z.int().optional().describe('The numeric id that an import gave'),
});
const changed = z.strictObject(entry);
const named = z.strictObject(document);

const importedTarget = linkTarget.extend({
  order: z.number().optional().describe('Place of the link in the list of the target'),
});

function importedRow<Target extends z.ZodType>(target: Target) {
  return z.strictObject({
    ...document,
    version: z.enum(['draft', 'published', 'live']).describe('live: of a type without draft & publish'),
    id: z.int().optional().describe('The numeric id; without one the next is allotted'),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    publishedAt: z.iso.datetime().nullable().describe('null on drafts'),
    values: z
      .record(z.string(), z.unknown())
      .describe('Values by attribute. A component keeps its id, its relations are lists of targets'),
    relations: z
      .array(z.strictObject({ attribute: z.string(), targets: z.array(target) }))
      .describe('Of the relations that this side owns, in order'),
  });
}

const importedInWorlds = importedRow(
  importedTarget.extend({
    world: z
      .enum(['draft', 'published'])
      .optional()
      .describe('The only world of the link, where its owner has no versions; absent: both'),
  }),
);

const definition = {
  uid,
  schema: z.unknown().describe('The schema.json of the content type; null for a built-in one'),
  components: z.record(z.string(), z.unknown()).describe('The schemas of the components it can hold, by uid'),
};

const tokenCreated = z.strictObject({
  id: z.string(),
  name: z.string(),
  tokenType: z.enum(TOKEN_TYPES),
  allow: z.array(z.string()).describe('Rights of custom tokens, such as `api::tag.tag.find`'),
  drafts: z.boolean(),
  expiresAt: z.string().nullable(),
  hash: z.string().describe('HMAC-SHA-256 of the secret in hex digits; the secret is stored nowhere'),
});
const tokenRevoked = z.strictObject({ id: z.string() });
const publicRights = z.strictObject({ allow: z.array(z.string()) });

const roleDefined = z.strictObject({
  id: z.int().describe('The `role` of its users; 1 is Authenticated, 2 Public'),
  type: z.string().describe('Its key, such as `authenticated`'),
  name: z.string(),
  description: z.string(),
  allow: z.array(z.string()).describe('Rights such as `api::tag.tag.find`'),
  drafts: z.boolean(),
  login: z.array(z.string()).describe('What its users may ask of the login, such as `auth.changePassword`'),
});
const mail = z.strictObject({
  from: z.strictObject({ name: z.string(), email: z.string() }),
  replyTo: z.string(),
  subject: z.string(),
  message: z.string(),
});
const loginConfigured = z.strictObject({
  switches: z
    .strictObject({
      allow_register: z.boolean(),
      email_confirmation: z.boolean(),
      email_confirmation_redirection: z.string().nullable(),
      email_reset_password: z.string().nullable(),
      default_role: z.string(),
    })
    .optional()
    .describe("In the words of Strapi's plugin_users-permissions_advanced"),
  mails: z.strictObject({ resetPassword: mail, confirmation: mail }).optional(),
});

const epoch = z.int().min(1).describe('Counts the claims of a space from 1');
const elected = z.strictObject({
  epoch,
  owner: z.string().describe('Names the process'),
  address: z.string().describe('Where other processes reach it'),
});
const steppedDown = z.strictObject({ epoch });
const successorNamed = z.strictObject({
  epoch,
  owner: z.string().describe('Names the process that takes the place of the leader'),
  address: z.string().describe('Where other processes will reach it'),
  forMs: z.int().min(0).describe('Milliseconds for which other processes leave the lease to it'),
});

const identified = z.strictObject({
  id: z.string(),
  copyOf: z.string().optional().describe('The identity of the log that this one was copied from'),
  history: z
    .strictObject({ position: z.string(), chain: z.string() })
    .optional()
    .describe('The head of the hash chain of the log whose events were imported into this one'),
});
const processStarted = z.strictObject({
  owner: z.string().describe('Names the process'),
  claim: z.string().describe("The event id of the leader's claim"),
  nonce: z.string().describe('32 random bytes, base64url'),
});

const EARLIER_WEBHOOK_EVENT = z.enum(EARLIER_WEBHOOK_EVENTS);
const WEBHOOK_EVENT = z.enum(WEBHOOK_EVENTS);

function webhookDefined<Event extends z.ZodType>(event: Event) {
  return z.strictObject({
    id: z.string(),
    name: z.string(),
    url: z.string(),
    events: z.array(event),
    types: z.array(z.string()).describe('Content types by uid; empty: all'),
    locales: z.array(z.string()).describe('Empty: all'),
    populate: z.string().describe('Query string that says what of an entry is sent'),
    sealed: z.string().describe('Secrets and headers, encrypted with a key made of the access key'),
    allowPrivate: z.boolean().describe('It may be sent to private addresses'),
    status: z.enum(['active', 'paused', 'disabled']),
    reason: z.string().nullable().describe('Why Varve disabled it; null: it did not'),
  });
}
const webhookRemoved = z.strictObject({ id: z.string() });
function webhooksProgressed<Event extends z.ZodType>(event: Event) {
  return z.strictObject({
    store: z.string().describe('Id of the file that has the deliveries'),
    upTo: z.string().describe('Everything up to this position is delivered, except `open`'),
    open: z.array(
      z.strictObject({
        hook: z.string(),
        position: z.string(),
        event,
        type: uid,
        documentId: z.string(),
        parked: z.boolean(),
      }),
    ),
  });
}

const erasureOrdered = z.strictObject({
  type: uid,
  documentId: z.string(),
  reason: z.string().nullable().describe('In the words of the operator; null: not given'),
});
const documentErased = z.strictObject({
  order: z.string().describe('Id of the `erasure-ordered`'),
  type: uid,
  documentId: z.string(),
  events: z
    .array(z.strictObject({ revision: z.string(), id: z.string(), digest: z.string() }))
    .describe("The erased events of the document's stream as they are now, with the digest of each"),
});

/** Schemas of a type's versions, in order from version 1 on. */
type Versions = readonly [z.ZodType, ...z.ZodType[]];

export const EVENT_SCHEMAS: Readonly<Record<EventType, Versions>> = {
  'entry-created': [created, created],
  'entry-changed': [changed, changed],
  'entry-published': [named, named],
  'entry-unpublished': [named, named],
  'draft-discarded': [named, named],
  'entry-deleted': [named, named],
  'entry-imported': [importedRow(importedTarget), importedInWorlds],
  'content-type-defined': [
    z.strictObject(definition),
    z.strictObject({
      ...definition,
      defaultLocale: z.string().describe('What entries without a locale become when the type gets locales'),
    }),
  ],
  'token-created': [tokenCreated, tokenCreated, tokenCreated.extend({ history: z.boolean() })],
  'token-revoked': [tokenRevoked, tokenRevoked],
  'public-rights-set': [publicRights, publicRights],
  'role-defined': [roleDefined, roleDefined.extend({ history: z.boolean() })],
  'login-configured': [loginConfigured],
  'leader-elected': [elected, elected],
  'leader-stepped-down': [steppedDown, steppedDown],
  'successor-named': [successorNamed],
  'log-identified': [identified],
  'process-started': [processStarted],
  ...RELEASE_SCHEMAS,
  ...SEARCH_SCHEMAS,
  'webhook-defined': [webhookDefined(EARLIER_WEBHOOK_EVENT), webhookDefined(WEBHOOK_EVENT)],
  'webhook-removed': [webhookRemoved],
  'webhooks-progressed': [webhooksProgressed(EARLIER_WEBHOOK_EVENT), webhooksProgressed(WEBHOOK_EVENT)],
  'erasure-ordered': [erasureOrdered],
  'document-erased': [documentErased],
};

/** Readers ignore keys that they do not know. */
export const METADATA_SCHEMA = z.looseObject({
  schemaVersion: z.int().min(1).describe('The version of the type of the event'),
  at: z.iso.datetime().describe('When it was written; an import gives the times of its source'),
  epoch: z.int().min(0).describe('The epoch of the lease it was written under; 0 where none is needed'),
  actor: z
    .looseObject({
      kind: z
        .string()
        .describe('token, user, identity, anonymous, development, import, strapi, operator or process'),
      id: z.string().optional().describe('Of a token, a user, an identity or a process'),
      name: z.string().optional().describe('Of a token'),
    })
    .optional()
    .describe('Who caused it'),
  via: z.string().optional().describe('The kind of the command, such as `update`'),
  correlationId: z.string().optional().describe('The id of the HTTP request'),
  traceId: z.string().optional().describe('The W3C trace that the request belongs to, 32 hex digits'),
  causationId: z.string().optional().describe('The id of the event that this one follows from'),
  command: z
    .looseObject({
      id: z.string().describe('No other command has it'),
      request: z.string().optional().describe('A digest of what was asked for'),
    })
    .optional()
    .describe('What makes a command that is sent again the same command'),
  replays: z
    .array(z.looseObject({ hook: z.string(), from: z.string().describe('Position in the log') }))
    .optional()
    .describe('On `webhooks-progressed`: replays of history that are not done'),
  salt: z.string().optional().describe('Random, so that nobody can guess the content from the digest'),
  erased: z
    .string()
    .optional()
    .describe(
      'Id of the `erasure-ordered` because of which the content was erased; `digest` is that of before',
    ),
  digest: z
    .string()
    .optional()
    .describe('SHA-256 of the content, base64url; events of earlier releases have none'),
});
