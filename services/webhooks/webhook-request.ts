import { isIP } from 'node:net';
import * as z from 'zod';
import { commaList } from '../../shared/comma-list.ts';
import { type FormProblem, formProblems } from '../../shared/form-problems.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { WEBHOOK_EVENTS, type WebhookEventName } from '../../shared/webhooks/webhook-events.ts';
import { isPrivateAddress } from './private-address.ts';

/** A webhook as a person or an HTTP body describes it. */
export type WebhookRequest = {
  readonly name: string;
  readonly url: string;
  readonly events: readonly WebhookEventName[];
  readonly types: readonly string[];
  readonly locales: readonly string[];
  readonly populate: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly allowPrivate: boolean;
};

export type ParsedWebhook =
  | { readonly kind: 'webhook'; readonly webhook: WebhookRequest }
  | { readonly kind: 'problems'; readonly problems: readonly FormProblem[] };

/** Without a choice of events: all that Strapi has. */
const USUAL_EVENTS = WEBHOOK_EVENTS.filter((event) => event !== 'entry.related-change');
const TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const VISIBLE = /^[\x20-\x7e\t]*$/;
/** Varve sets these. */
const OWN_HEADERS = /^(content-(type|length)|host|connection|transfer-encoding|x-strapi-event|webhook-.*)$/i;

function list(name: string) {
  return z.union([z.string().transform(commaList), z.array(z.string())], {
    error: `must be a list of ${name}`,
  });
}

const FORM = z.strictObject({
  url: z
    .string({ error: 'is missing' })
    .refine((text) => /^https?:\/\//i.test(text) && URL.canParse(text), 'must be an http or https address')
    .refine(
      (text) => !/^https?:\/\/[^/]*@/i.test(text),
      'must not contain a user or password: pass a header',
    ),
  name: z.string().trim().min(1, 'is empty').max(100, 'must have at most 100 characters').optional(),
  events: list('events').optional(),
  types: list('content types').default([]),
  locales: list('locales').default([]),
  populate: z.string({ error: 'must be a text' }).default('*'),
  headers: z
    .record(z.string(), z.string(), { error: 'must be an object of texts' })
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
      'has a header that Varve sets',
    ),
  allowPrivate: z.boolean({ error: 'must be true or false' }).default(false),
});

/** `registry`: undefined if it is not known, then `types` must be uids. */
export function parseWebhook(given: unknown, registry: SchemaRegistry | undefined): ParsedWebhook {
  const form = FORM.safeParse(given);
  if (!form.success) return { kind: 'problems', problems: formProblems(form.error) };
  const { url, name = new URL(url).host, events = USUAL_EVENTS, populate, ...rest } = form.data;
  const unknown = events.filter((event) => !WEBHOOK_EVENTS.includes(event as WebhookEventName));
  const types = rest.types.map((type) => ({ type, uid: uidOf(type, registry) }));
  const problems = [
    ...unknown.map((event) => ({
      path: 'events',
      message: `must be of ${WEBHOOK_EVENTS.join(', ')}, got "${event}"`,
    })),
    ...types
      .filter(({ uid }) => uid === undefined)
      .map(({ type }) => ({
        path: 'types',
        message: `has "${type}", which is not a content type: pass a uid such as api::tag.tag`,
      })),
    ...(rest.allowPrivate ? [] : privateProblems(url)),
  ];
  if (problems.length > 0) return { kind: 'problems', problems };
  const webhook = {
    ...rest,
    url,
    name,
    events: [...new Set(events)] as WebhookEventName[],
    types: [...new Set(types.flatMap(({ uid }) => uid ?? []))],
    populate: populate.includes('=') ? populate : `populate=${encodeURIComponent(populate)}`,
  };
  return { kind: 'webhook', webhook };
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
