import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Rights } from '../../../shared/access/rights.ts';
import { fastDigest } from '../../../shared/fast-digest.ts';
import { RequestError } from '../../../shared/request-error.ts';
import type { AnswerTags } from '../../delivery/answer-tags.ts';
import type { KnownAnswer, KnownAnswers, OutsideIndex } from '../../delivery/known-answers.ts';
import type { Tagging } from '../../delivery/tagging.ts';
import { releaseBody } from '../../query/body-buffers.ts';
import { isSameEntity } from '../answers/entity-tag.ts';
import { JSON_HEADERS, SECURITY_HEADERS } from '../answers/responses.ts';
import { V4_HEADER } from '../answers/v4-format.ts';
import { MIN_POSITION_HEADER } from '../requests/await-position.ts';
import type { Asking } from './content-api.ts';

/** Rules for caches, for the answers to callers with equal rights. */
export type Delivery = {
  /** Part of every ETag, see `generationOf`. */
  readonly generation: string;
  /** Absent: what changes in the index is not known here. */
  readonly known?: KnownAnswers;
  /** Absent: answers have no tags in their headers. */
  readonly tagging?: Tagging;
  /** Rights object of a token whose answers are public; absent: there is no such token. */
  readonly shared?: (() => Rights | undefined) | undefined;
};

/** Returns the answers that live lists watch; undefined: this process does not know each change of its index. */
export function watchedAnswers({ known }: Pick<Delivery, 'known'>): KnownAnswers | undefined {
  return known?.outside === undefined ? known : undefined;
}

/** Request headers that an answer depends on. `Authorization` is not among them: with a token an answer is private. */
const VARY = 'Varve-Min-Position, Strapi-Response-Format';

/** `cache-control` by who may store an answer. No cache may use it again without asking. */
const RULES = rulesWith(VARY);
/** The same for an address whose answer is a stream if `Accept` asks for one. */
const RULES_BY_ACCEPT = rulesWith(`Accept, ${VARY}`);

function rulesWith(vary: string) {
  return {
    public: headersWith('public, max-age=0, must-revalidate', vary),
    private: headersWith('private, max-age=0, must-revalidate', vary),
    nobody: headersWith('no-store', vary),
  } as const;
}

function headersWith(cacheControl: string, vary: string) {
  const caching = { 'cache-control': cacheControl, vary };
  return {
    whole: Object.freeze({ ...JSON_HEADERS, ...caching }),
    unchanged: Object.freeze({ ...SECURITY_HEADERS, ...caching }),
  };
}

/**
 * Answers a GET of the content API, with 304 if the caller has the answer already. If it is known that nothing in it has
 * changed since it was made, `answer` is not called.
 */
export function answerRead(
  delivery: Delivery,
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer,
): Promise<void> | undefined {
  const { known } = delivery;
  const entity = request.headers['if-none-match'];
  if (known === undefined || (entity === undefined && !known.keepsBodies))
    return answerOnce(delivery, reply, answer);
  const key = keyOf(request);
  if (known.outside !== undefined)
    return answerAfterLook(delivery, reply, answer, { known, key, outside: known.outside });
  const isRepeated = known.isRepeated(key);
  if (entity === undefined && !isRepeated) {
    known.counts.misses++;
    return answerOnce(delivery, reply, answer);
  }
  const found = known.find(key);
  if (found !== undefined && (found.body !== undefined || isSameEntity(entity, found.etag))) {
    known.counts.hits++;
    sendRead(delivery, reply, lasting(delivery.tagging, found, found.tags), found.body ?? NO_BODY);
    return undefined;
  }
  known.counts.misses++;
  return answerWithTags(delivery, reply, answer, { known, key, isRepeated });
}

/**
 * Answers with 304 if the index shows nothing that has changed the caller's answer since. The answer is made if that is not known, and if
 * it cannot be found out.
 */
async function answerAfterLook(
  delivery: Delivery,
  reply: FastifyReply,
  answer: Answer,
  { known, key, outside }: Pick<Kept, 'known' | 'key'> & { readonly outside: OutsideIndex },
): Promise<void> {
  const entity = reply.request.headers['if-none-match'];
  const find = () => {
    const found = known.find(key);
    return found !== undefined && isSameEntity(entity, found.etag) ? found : undefined;
  };
  const position = known.position();
  const isLooked = find() !== undefined && (await isSettled(outside.look()));
  const found = isLooked ? find() : undefined;
  if (found === undefined) {
    known.counts.misses++;
    return answerWithTags(delivery, reply, answer, { known, key, isRepeated: false });
  }
  known.counts.hits++;
  const isCurrent = position === known.position();
  sendRead(delivery, reply, isCurrent ? lasting(delivery.tagging, found, found.tags) : found, NO_BODY);
}

function isSettled(promise: Promise<void>): Promise<boolean> {
  return promise.then(
    () => true,
    () => false,
  );
}

type Answer = (asking: Asking) => Promise<Uint8Array>;

/** The body of an answer that is only known by its ETag. */
const NO_BODY = new Uint8Array(0);

function keyOf({ headers, raw: { url = '' } }: FastifyRequest): string {
  const format = headers[V4_HEADER];
  return format === undefined ? url : `${format} ${url}`;
}

async function answerOnce(delivery: Delivery, reply: FastifyReply, answer: Answer): Promise<void> {
  const { generation, tagging } = delivery;
  const { request } = reply;
  if (tagging !== undefined && isShared(delivery, request)) {
    await answerWithTags(delivery, reply, answer);
    return;
  }
  const asking = askingOf(request);
  const body = await answer(asking);
  sendRead(
    delivery,
    reply,
    { etag: entityTag(generation, body), isDraft: asking.isDraft, isOnce: true },
    body,
  );
}

type Kept = {
  readonly known: KnownAnswers;
  readonly key: string;
  /** The body is kept too. */
  readonly isRepeated: boolean;
};

/**
 * Answers with the tags of the answer, and remembers it with them if `kept` says so. Callers that have an ETag ask again
 * after changes too.
 */
async function answerWithTags(
  delivery: Delivery,
  reply: FastifyReply,
  answer: Answer,
  kept?: Kept,
): Promise<void> {
  const { generation, tagging } = delivery;
  const tags = (kept?.known ?? (tagging as Tagging)).collect();
  const asking = { ...askingOf(reply.request), tags, shown: tags.shown };
  const position = (kept?.known ?? tagging)?.position();
  const state = kept?.known.outside?.state();
  const body = await answer(asking).catch((error) => {
    if (tagging !== undefined && isShared(delivery, reply.request)) tagMissing(reply, tagging, tags, error);
    throw error;
  });
  const { isDraft } = asking;
  const collected = tags.collected();
  const made = { etag: entityTag(generation, body), isDraft, tagged: tagging?.headers(collected) };
  const isCurrent = position === (kept?.known ?? tagging)?.position() && !asking.varies;
  const isKnowable = kept?.known.outside === undefined || state !== undefined;
  if (kept !== undefined && isCurrent && isKnowable && position !== undefined) {
    const whole = kept.isRepeated ? body : undefined;
    kept.known.keep(kept.key, { ...made, position, state, tags: tags.all(), body: whole });
  }
  const sent = { ...made, isOnce: kept?.isRepeated !== true };
  sendRead(delivery, reply, isCurrent ? lasting(tagging, sent, collected?.fixed) : sent, body);
}

/** Adds how long caches may keep an answer that is current: what changes it from now on is purged. */
function lasting(tagging: Tagging | undefined, sent: Sent, tags: KnownAnswer['tags']): Sent {
  const lifetimes = tagging?.lifetimes?.(tags);
  return lifetimes === undefined ? sent : { ...sent, tagged: { ...sent.tagged, ...lifetimes } };
}

/** Tags an answer about a missing document: caches keep it even with `no-store`. */
function tagMissing(reply: FastifyReply, tagging: Tagging, tags: AnswerTags, error: unknown): void {
  if (!(error instanceof RequestError) || error.code !== 'not-found') return;
  const collected = tags.collected();
  if (collected !== undefined) reply.header(tagging.header, tagging.value(collected));
}

/** Whether an answer shows drafts, and whether the same address has a stream. */
type OwnAnswer = Pick<Delivery, 'generation'> & { readonly isDraft?: boolean; readonly hasStream?: boolean };

/** Answers a GET whose body does not follow from its URL and the caller's rights alone. */
export function sendOwn(
  { generation, isDraft = false, hasStream = false }: OwnAnswer,
  reply: FastifyReply,
  body: Uint8Array,
): void {
  sendRead({}, reply, { etag: entityTag(generation, body), isDraft, hasStream }, body);
}

/** After its connection is closed, an answer gets no more work. */
function askingOf({ id, raw }: FastifyRequest): Asking {
  return { id, isWanted: () => !raw.socket.destroyed, isDraft: false, varies: false };
}

/** The ETag of an answer to callers with equal rights. */
export function entityTag(generation: string, body: Uint8Array): string {
  return `"${generation}${fastDigest(body)}"`;
}

type Sent = Pick<KnownAnswer, 'etag' | 'isDraft' | 'tagged'> & {
  /** Nothing reads the body after it is sent, so its memory is for the next answers. */
  readonly isOnce?: boolean;
  /** Another `Accept` is answered with a stream. */
  readonly hasStream?: boolean;
};

/** Past fastify's reply, which would look at headers and hooks again: a read's answer is bytes and constant headers. */
function sendRead(sharing: Sharing, reply: FastifyReply, sent: Sent, body: Uint8Array): void {
  const { etag } = sent;
  const rules = rulesFor(sharing, reply.request, sent);
  const done = sent.isOnce === true ? () => releaseBody(body) : undefined;
  if (isSameEntity(reply.request.headers['if-none-match'], etag)) {
    sendUnchanged(rules, reply, sent);
    done?.();
    return;
  }
  const headers = { ...rules.whole, etag, 'content-length': body.length };
  reply.hijack();
  reply.raw.writeHead(200, withOthers(reply, rules, sent, headers)).end(body, done);
}

function sendUnchanged(rules: Rules, reply: FastifyReply, sent: Sent): void {
  const headers = { ...rules.unchanged, etag: sent.etag };
  reply.hijack();
  reply.raw.writeHead(304, withOthers(reply, rules, sent, headers)).end();
}

type Rules = (typeof RULES)[keyof typeof RULES];

function rulesFor(sharing: Sharing, request: FastifyRequest, { isDraft, hasStream }: Sent): Rules {
  const rules = hasStream === true ? RULES_BY_ACCEPT : RULES;
  if (isDraft || request.headers[MIN_POSITION_HEADER] !== undefined) return rules.nobody;
  return isShared(sharing, request) ? rules.public : rules.private;
}

type Sharing = Pick<Delivery, 'shared'>;

/** Returns whether shared caches may store the answer: it is for everyone. */
function isShared({ shared }: Sharing, { headers, rights }: FastifyRequest): boolean {
  return headers.authorization === undefined || (shared !== undefined && rights === shared());
}

/** Adds tags and lifetimes for shared caches, and the headers of the reply. */
function withOthers<Headers extends { readonly vary: string }>(
  reply: FastifyReply,
  rules: Rules,
  { tagged }: Sent,
  headers: Headers,
): Headers | OutgoingHttpHeaders {
  const own = tagged !== undefined && rules === RULES.public ? { ...headers, ...tagged } : headers;
  return reply.server.addsHeaders ? withAdded(reply, own) : own;
}

/** Adds the headers that depend on the request, such as those for pages of other origins. */
function withAdded<Headers extends { readonly vary: string }>(
  reply: FastifyReply,
  headers: Headers,
): OutgoingHttpHeaders {
  const added = reply.getHeaders() as OutgoingHttpHeaders;
  const vary = added['vary'] === undefined ? headers.vary : `${added['vary']}, ${headers.vary}`;
  return { ...added, ...headers, vary };
}
