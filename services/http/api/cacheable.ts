import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { fastDigest } from '../../../shared/fast-digest.ts';
import type { KnownAnswers } from '../../delivery/known-answers.ts';
import { isSameEntity } from '../answers/entity-tag.ts';
import { JSON_HEADERS, SECURITY_HEADERS } from '../answers/responses.ts';
import { V4_HEADER } from '../answers/v4-format.ts';
import { MIN_POSITION_HEADER } from '../requests/await-position.ts';
import type { Asking } from './content-api.ts';

/** What caches may do with the answers to callers with equal rights. */
export type Delivery = {
  /** Part of every ETag, see `generationOf`. */
  readonly generation: string;
  /** Absent: one position of the index may show several states, as with Elasticsearch. */
  readonly known?: KnownAnswers;
};

/** Request headers that an answer depends on. `Authorization` is not among them: with a token an answer is private. */
const VARY = 'Varve-Min-Position, Strapi-Response-Format';

/** Who may store an answer. Nobody may use it again without asking. */
const RULES = {
  public: headersWith('public, max-age=0, must-revalidate'),
  private: headersWith('private, max-age=0, must-revalidate'),
  nobody: headersWith('no-store'),
} as const;

function headersWith(cacheControl: string) {
  const caching = { 'cache-control': cacheControl, vary: VARY };
  return {
    whole: Object.freeze({ ...JSON_HEADERS, ...caching }),
    unchanged: Object.freeze({ ...SECURITY_HEADERS, ...caching }),
  };
}

type Answer = (asking: Asking) => Promise<Uint8Array>;

/**
 * Answers a GET of the content API, with 304 if the caller has the answer already. If it is known that nothing in it has
 * changed since it was made, `answer` is not called.
 */
export function answerRead(
  { generation, known }: Delivery,
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer,
): Promise<void> | undefined {
  const entity = request.headers['if-none-match'];
  if (known === undefined || (entity === undefined && !known.keepsBodies))
    return answerOnce(generation, request, reply, answer);
  const key = keyOf(request);
  const found = known.find(key);
  if (found !== undefined && (found.body !== undefined || isSameEntity(entity, found.etag))) {
    known.counts.hits++;
    sendRead(request, reply, found, found.body ?? NO_BODY);
    return undefined;
  }
  known.counts.misses++;
  const isRepeated = known.isRepeated(key);
  if (entity === undefined && !isRepeated) return answerOnce(generation, request, reply, answer);
  return answerAndKeep({ generation, known, key, isRepeated }, request, reply, answer);
}

/** Of an answer that is only known by its ETag. */
const NO_BODY = new Uint8Array(0);

function keyOf({ headers, raw: { url = '' } }: FastifyRequest): string {
  const format = headers[V4_HEADER];
  return format === undefined ? url : `${format} ${url}`;
}

async function answerOnce(
  generation: string,
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer,
): Promise<void> {
  const asking = askingOf(request);
  const body = await answer(asking);
  sendRead(request, reply, { etag: entityTag(generation, body), isDraft: asking.isDraft }, body);
}

type Kept = Required<Delivery> & {
  readonly key: string;
  /** The body is kept too. */
  readonly isRepeated: boolean;
};

/** Remembers the answer with its tags. Callers that have an ETag ask again after changes too. */
async function answerAndKeep(
  { generation, known, key, isRepeated }: Kept,
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer,
): Promise<void> {
  const tags = known.collect();
  const asking = { ...askingOf(request), tags, shown: tags.shown };
  const position = known.position();
  const body = await answer(asking);
  const etag = entityTag(generation, body);
  const { isDraft } = asking;
  if (position === known.position() && !asking.varies) {
    const kept = isRepeated ? body : undefined;
    known.keep(key, { etag, isDraft, position, tags: tags.all(), body: kept });
  }
  sendRead(request, reply, { etag, isDraft }, body);
}

/** Answers a GET whose body does not follow from its URL and the caller's rights alone. */
export function sendOwn(
  { generation, isDraft = false }: Pick<Delivery, 'generation'> & { readonly isDraft?: boolean },
  request: FastifyRequest,
  reply: FastifyReply,
  body: Uint8Array,
): void {
  sendRead(request, reply, { etag: entityTag(generation, body), isDraft }, body);
}

/** After its connection is closed, an answer gets no more work. */
function askingOf({ id, raw }: FastifyRequest): Asking {
  return { id, isWanted: () => !raw.socket.destroyed, isDraft: false, varies: false };
}

function entityTag(generation: string, body: Uint8Array): string {
  return `"${generation}${fastDigest(body)}"`;
}

type Sent = { readonly etag: string; readonly isDraft: boolean };

/** Past fastify's reply, which would look at headers and hooks again: a read's answer is bytes and constant headers. */
function sendRead(request: FastifyRequest, reply: FastifyReply, sent: Sent, body: Uint8Array): void {
  const { etag } = sent;
  if (isSameEntity(request.headers['if-none-match'], etag)) {
    sendUnchanged(request, reply, sent);
    return;
  }
  const headers = { ...rulesFor(request, sent).whole, etag, 'content-length': body.length };
  reply.hijack();
  reply.raw.writeHead(200, reply.server.addsHeaders ? withAdded(reply, headers) : headers).end(body);
}

function sendUnchanged(request: FastifyRequest, reply: FastifyReply, sent: Sent): void {
  const headers = { ...rulesFor(request, sent).unchanged, etag: sent.etag };
  reply.hijack();
  reply.raw.writeHead(304, reply.server.addsHeaders ? withAdded(reply, headers) : headers).end();
}

function rulesFor({ headers }: FastifyRequest, { isDraft }: Sent) {
  if (isDraft || headers[MIN_POSITION_HEADER] !== undefined) return RULES.nobody;
  return headers.authorization === undefined ? RULES.public : RULES.private;
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
