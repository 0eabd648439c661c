import type { IncomingMessage, OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Rights } from '../../../shared/access/rights.ts';
import { remembered } from '../../../shared/remembered.ts';
import { TURNS } from '../../../shared/turns/turns.ts';
import type { KnownAnswer } from '../../delivery/known-answers.ts';
import type { LifetimeFields } from '../../delivery/lifetimes.ts';
import { releaseBody } from '../../query/body-buffers.ts';
import { isSameEntity } from '../answers/entity-tag.ts';
import { JSON_HEADERS, SECURITY_HEADERS } from '../answers/responses.ts';
import { createSendTogether } from '../answers/send-together.ts';
import { MIN_POSITION_HEADER } from '../requests/await-position.ts';

export type Sharing = {
  /** Returns the rights object of a token whose answers are public. Absent: there is no such token. */
  readonly shared?: (() => Rights | undefined) | undefined;
};

export type SentRead = Pick<KnownAnswer, 'etag' | 'isDraft' | 'tagged'> & {
  /** Absent: shared caches have to ask each time. */
  readonly lifetimes?: LifetimeFields | undefined;
  /** True: nothing reads the body after it is sent, so the next answers reuse its memory. */
  readonly isOnce?: boolean;
  /** True: with another `Accept` the same address answers with a stream. */
  readonly hasStream?: boolean;
};

/** Request headers that an answer depends on. `Authorization` is not among them: with a token an answer is private. */
const VARY = 'Varve-Min-Position, Strapi-Response-Format';
const PUBLIC = 'public, max-age=0, must-revalidate';

/** Headers by who may store an answer. No cache may use it again without asking. */
const RULES = rulesWith(VARY);
/** The same for an address whose answer is a stream if `Accept` asks for one. */
const RULES_BY_ACCEPT = rulesWith(`Accept, ${VARY}`);

/** Constant headers of an answer and of a 304: names and values in turn. `writeHead` would copy an object more slowly. */
type Rules = { readonly whole: readonly string[]; readonly unchanged: readonly string[] };

function rulesWith(vary: string) {
  return {
    public: headersWith({ 'cache-control': PUBLIC, vary }),
    private: headersWith({ 'cache-control': 'private, max-age=0, must-revalidate', vary }),
    nobody: headersWith({ 'cache-control': 'no-store', vary }),
  } as const;
}

function headersWith(caching: Readonly<Record<string, string>>): Rules {
  return {
    whole: Object.entries({ ...JSON_HEADERS, ...caching }).flat(),
    unchanged: Object.entries({ ...SECURITY_HEADERS, ...caching }).flat(),
  };
}

/** The rules of public answers that shared caches may keep for a time. */
const lastingRules = remembered((lifetimes: LifetimeFields) =>
  headersWith({ 'cache-control': PUBLIC, vary: VARY, ...lifetimes }),
);

/** Sends the bytes of a read with constant headers. Bypasses fastify's reply, which would look at headers and hooks again. */
export function sendRead(sharing: Sharing, reply: FastifyReply, sent: SentRead, body: Uint8Array): void {
  const rules = rulesFor(sharing, reply.request, sent);
  const added = reply.server.addsHeaders ? (reply.getHeaders() as OutgoingHttpHeaders) : undefined;
  reply.hijack();
  sendBytes(reply.request.raw, reply.raw, { rules, sent, added }, body);
}

/** Sends an answer to a caller that sent neither a token nor a position. Returns its status. */
export function sendPublicly(
  request: IncomingMessage,
  response: ServerResponse,
  sent: SentRead,
  body: Uint8Array,
): number {
  const rules = sent.isDraft ? RULES.nobody : RULES.public;
  return sendBytes(request, response, { rules, sent, added: undefined }, body);
}

type Head = {
  readonly rules: Rules;
  readonly sent: SentRead;
  /** Headers that depend on the request, such as those for pages of other origins. */
  readonly added: OutgoingHttpHeaders | undefined;
};

function sendBytes(
  { headers }: IncomingMessage,
  response: ServerResponse,
  head: Head,
  body: Uint8Array,
): number {
  const { etag, isOnce } = head.sent;
  const { whole, unchanged } = cachedRules(head);
  const done = isOnce === true ? () => releaseBody(body) : undefined;
  if (isSameEntity(headers['if-none-match'], etag)) {
    const head304 = withOthers(head, [...unchanged, 'etag', etag]);
    sendTogether(() => isUnanswered(response) && response.writeHead(304, head304).end());
    done?.();
    return 304;
  }
  const head200 = withOthers(head, [...whole, 'etag', etag, 'content-length', body.length]);
  sendTogether(() => {
    if (isUnanswered(response)) response.writeHead(200, head200).end(body, done);
    else done?.();
  });
  return 200;
}

/** Returns false if a failure of the request has been answered in the meantime. */
function isUnanswered({ headersSent }: ServerResponse): boolean {
  return !headersSent;
}

/** Sends the answers to all reads of the process. */
const sendTogether = createSendTogether(TURNS.isWaiting);

function cachedRules({ rules, sent: { lifetimes } }: Head): Rules {
  return lifetimes !== undefined && rules === RULES.public ? lastingRules(lifetimes) : rules;
}

function rulesFor(sharing: Sharing, request: FastifyRequest, { isDraft, hasStream }: SentRead): Rules {
  const rules = hasStream === true ? RULES_BY_ACCEPT : RULES;
  if (isDraft || request.headers[MIN_POSITION_HEADER] !== undefined) return rules.nobody;
  return isForEveryone(sharing, request) ? rules.public : rules.private;
}

/** Returns whether the answer is for everyone, so that shared caches may store it. */
export function isForEveryone({ shared }: Sharing, { headers, rights }: FastifyRequest): boolean {
  return headers.authorization === undefined || (shared !== undefined && rights === shared());
}

/** Adds the tags for shared caches, and the headers that depend on the request. */
function withOthers(
  { rules, sent: { tagged }, added }: Head,
  own: OutgoingHttpHeader[],
): OutgoingHttpHeader[] | OutgoingHttpHeaders {
  if (tagged !== undefined && rules === RULES.public) own.push(tagged[0], tagged[1]);
  if (added === undefined) return own;
  const all: OutgoingHttpHeaders = { ...added };
  for (let at = 0; at < own.length; at += 2) all[String(own[at])] = own[at + 1];
  if (added['vary'] !== undefined) all['vary'] = `${added['vary']}, ${all['vary']}`;
  return all;
}
