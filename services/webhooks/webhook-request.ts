import { isIP } from 'node:net';
import * as z from 'zod';
import { commaList } from '../../shared/comma-list.ts';
import { type FormProblem, formProblems, type Parsed } from '../../shared/form-problems.ts';
import { isRecord } from '../../shared/json-record.ts';
import { USER_TYPE } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import {
  EARLIER_WEBHOOK_EVENTS,
  WEBHOOK_EVENTS,
  type WebhookDefined,
  type WebhookEventName,
} from '../../shared/webhooks/webhook-events.ts';
import { isPrivateAddress } from '../outbox/private-address.ts';
import { hasLocaleForm } from '../query/locale.ts';

/** A webhook as a person or an HTTP body describes it. */
export type WebhookRequest = Omit<WebhookDefined['data'], 'id' | 'sealed' | 'status' | 'reason'> & {
  readonly headers: Readonly<Record<string, string>>;
};

/** Default events: all events of entries and files in Strapi. */
const USUAL_EVENTS = EARLIER_WEBHOOK_EVENTS.filter((event) => event !== 'entry.related-change');
const TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const VISIBLE = /^[\x20-\x7e\t]*$/;
/** Headers that Varve sets, or that control the connection. */
const OWN_HEADERS =
  /^(content-(type|length|encoding)|host|connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect|x-strapi-event|webhook-.*)$/i;

/** Characters of all additional headers: receivers refuse more. */
const MOST_HEADERS = 4_000;

/** Accepts no blanks and no control characters, which URLs omit silently. */
const HTTP = /^https?:\/\/[^\0-\x20\x7f]+$/i;

/** Returns whether a URL has a user or a password, as `https://user@host` and `https:///user@host` do. */
export function hasCredentials(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && `${url.username}${url.password}` !== '';
}

function list(name: string) {
  return z.union([z.string().transform(commaList), z.array(z.string())], {
    error: `must be a list of ${name}`,
  });
}

/** Body that describes a webhook. */
export const WEBHOOK_FORM = z.strictObject({
  url: z
    .string({ error: 'is missing' })
    .max(2_000, 'must have at most 2000 characters')
    .refine((text) => HTTP.test(text) && URL.canParse(text), 'must be an http or https address')
    .refine((text) => !hasCredentials(text), 'must not contain a user or password: pass a header'),
  name: z
    .string({ error: 'must be a string' })
    .trim()
    .min(1, 'is empty')
    .max(100, 'must have at most 100 characters')
    .regex(/^\P{Cc}*$/u, 'has control characters')
    .optional(),
  events: list('events')
    .refine((events) => events.length > 0, 'is empty: omit it for all')
    .optional(),
  types: list('content types').default([]),
  locales: list('locales')
    .refine((locales) => locales.every(hasLocaleForm), 'must be locales such as en or en-US')
    .default([]),
  populate: z
    .string({ error: 'must be a string' })
    .refine((text) => text.isWellFormed(), 'must not contain unpaired surrogates')
    .default('*'),
  headers: z
    .record(z.string(), z.string(), { error: 'must be an object of strings' })
    .default({})
    .refine(
      (headers) => Object.keys(headers).every((name) => TOKEN.test(name)),
      'has a name that is not a header',
    )
    .refine(
      (headers) => Object.values(headers).every((value) => VISIBLE.test(value)),
      'has a value that a header cannot have',
    )
    .refine(
      (headers) => !Object.keys(headers).some((name) => OWN_HEADERS.test(name)),
      'has a header that only Varve or the connection may set',
    )
    .refine(
      (headers) =>
        new Set(Object.keys(headers).map((name) => name.toLowerCase())).size === Object.keys(headers).length,
      'has the same header twice',
    )
    .refine(
      (headers) => Object.entries(headers).flat().join('').length <= MOST_HEADERS,
      `has more than ${MOST_HEADERS} characters`,
    ),
  allowPrivate: z.boolean({ error: 'must be true or false' }).default(false),
});

/** If the registry is not known (undefined), `types` must be uids. */
export function parseWebhook(given: unknown, registry: SchemaRegistry | undefined): Parsed<WebhookRequest> {
  if (!isRecord(given))
    return { kind: 'problems', problems: [{ path: 'data', message: 'must be an object with url' }] };
  const form = WEBHOOK_FORM.safeParse(given);
  if (!form.success) return { kind: 'problems', problems: formProblems(form.error) };
  const { url, name = new URL(url).host, events = USUAL_EVENTS, populate, ...rest } = form.data;
  const unknown = events.filter((event) => !WEBHOOK_EVENTS.includes(event as WebhookEventName));
  const types = rest.types.map((type) => ({ type, uid: uidOf(type, registry) }));
  const problems = [
    ...lostProblems(given),
    ...unknown.map((event) => ({
      path: 'events',
      message: `must be one of ${WEBHOOK_EVENTS.join(', ')}, got "${event}"`,
    })),
    ...types
      .filter(({ uid }) => uid === undefined)
      .map(({ type }) => ({
        path: 'types',
        message: `has "${type}", which is not a content type: pass a uid such as api::tag.tag`,
      })),
    ...(types.some(({ uid }) => uid === USER_TYPE)
      ? [{ path: 'types', message: `has ${USER_TYPE}: users send no webhooks` }]
      : []),
    ...(rest.allowPrivate ? [] : privateProblems(url)),
  ];
  if (problems.length > 0) return { kind: 'problems', problems };
  const value = {
    ...rest,
    url,
    name,
    events: [...new Set(events)] as WebhookEventName[],
    types: [...new Set(types.flatMap(({ uid }) => uid ?? []))],
    populate: populate.includes('=') ? populate : `populate=${encodeURIComponent(populate)}`,
  };
  return { kind: 'parsed', value };
}

/** zod omits this name silently. */
function lostProblems(given: object): readonly FormProblem[] {
  const { headers } = given as { readonly headers?: object };
  if (headers === undefined || !Object.hasOwn(headers, '__proto__')) return [];
  return [{ path: 'headers', message: 'has a header that cannot be sent: __proto__' }];
}

/** Names are resolved and checked for each delivery. */
function privateProblems(url: string): readonly FormProblem[] {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) === 0 || !isPrivateAddress(host)) return [];
  return [{ path: 'url', message: 'has a private address: pass --allow-private (allowPrivate) to allow it' }];
}

function uidOf(name: string, registry: SchemaRegistry | undefined): string | undefined {
  if (registry === undefined) return name.includes('::') ? name : undefined;
  if (registry.contentTypes.has(name)) return name;
  const types = [...registry.contentTypes.values()];
  return types.find(({ singularName, pluralName }) => name === singularName || name === pluralName)?.uid;
}

/** Returns whether a value is a position from which deliveries can be sent again: 18 digits fit into 64 bits. */
export function isLogPosition(value: unknown): value is string | number {
  return (typeof value === 'string' || typeof value === 'number') && /^[1-9]\d{0,17}$/.test(String(value));
}
