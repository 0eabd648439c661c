import type { FastifyReply, FastifyRequest } from 'fastify';
import { fastDigest } from '../../../shared/fast-digest.ts';
import { RequestError } from '../../../shared/request-error.ts';
import type { AnswerTags } from '../../delivery/answer-tags.ts';
import type { KnownAnswer, KnownAnswers } from '../../delivery/known-answers.ts';
import type { Tagging } from '../../delivery/tagging.ts';
import { isSameEntity } from '../answers/entity-tag.ts';
import { V4_HEADER } from '../answers/v4-format.ts';
import type { Asking } from './content-api.ts';
import { isForEveryone, type SentRead, type Sharing, sendRead } from './send-read.ts';

/** Rules for caches about the answers to callers with equal rights. */
export type Delivery = Sharing & {
  /** Part of every ETag, see `nameShape`. */
  readonly generation: string;
  /** Absent: this process does not know the changes of its index. */
  readonly known?: KnownAnswers;
  /** Absent: answers have no tags in their headers. */
  readonly tagging?: Tagging;
};

/** Answers a GET of the content API, with 304 if the caller already has the answer. Calls `answer` only if no valid answer is known. */
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
  const isRepeated = known.isRepeated(key);
  if (entity === undefined && !isRepeated) {
    known.counts.misses++;
    return answerOnce(delivery, reply, answer);
  }
  const found = known.find(key);
  if (found !== undefined && isEnough(found, entity)) {
    known.counts.hits++;
    sendRead(delivery, reply, lasting(delivery.tagging, found, found.tags), found.body ?? NO_BODY);
    return undefined;
  }
  known.counts.misses++;
  return answerWithTags(delivery, reply, answer, { known, key, isRepeated });
}

/**
 * Returns the remembered answer to a GET of a caller without a token, and counts the request. Returns undefined if no answer can be sent at
 * once. `url`: the path and query as routes get them. `entity`: the caller's `If-None-Match`.
 */
export function findRemembered(
  { known, tagging }: Delivery,
  url: string,
  entity: string | undefined,
): { readonly sent: SentRead; readonly body: Uint8Array; readonly route: string } | undefined {
  if (known === undefined || (entity === undefined && !known.keepsBodies)) return undefined;
  const found = known.find(url);
  if (found?.route === undefined || !isEnough(found, entity)) return undefined;
  known.isRepeated(url);
  known.counts.hits++;
  const { route, body = NO_BODY } = found;
  return { sent: lasting(tagging, found, found.tags), route, body };
}

/** Returns whether a known answer has the body, or the caller needs only a 304. */
function isEnough({ body, etag }: KnownAnswer, entity: string | undefined): boolean {
  return body !== undefined || isSameEntity(entity, etag);
}

type Answer = (asking: Asking) => Promise<Uint8Array>;

/** Body of an answer of which only the ETag is known. */
const NO_BODY = new Uint8Array(0);

function keyOf({ headers, raw: { url = '' } }: FastifyRequest): string {
  const format = headers[V4_HEADER];
  return format === undefined ? url : `${format} ${url}`;
}

function answerOnce(delivery: Delivery, reply: FastifyReply, answer: Answer): Promise<void> {
  return delivery.tagging !== undefined && isForEveryone(delivery, reply.request)
    ? answerWithTags(delivery, reply, answer)
    : answerWithoutTags(delivery, reply, answer);
}

async function answerWithoutTags(delivery: Delivery, reply: FastifyReply, answer: Answer): Promise<void> {
  const asking = askingOf(reply.request);
  const body = await answer(asking);
  const etag = entityTag(delivery.generation, body);
  sendRead(delivery, reply, { etag, isDraft: asking.isDraft, isOnce: true }, body);
}

type Kept = {
  readonly known: KnownAnswers;
  readonly key: string;
  /** True: the body is kept too. */
  readonly isRepeated: boolean;
};

/** Makes the answer and its tags, and sends both. Remembers the answer with its tags if `kept` is given. */
async function answerWithTags(
  delivery: Delivery,
  reply: FastifyReply,
  answer: Answer,
  kept?: Kept,
): Promise<void> {
  const { generation, tagging } = delivery;
  const began = performance.now();
  const source = kept?.known ?? (tagging as Tagging);
  const tags = source.collect();
  const asking = askingOf(reply.request, tags);
  const position = source.position();
  let body: Uint8Array;
  try {
    body = await answer(asking);
  } catch (error) {
    if (tagging !== undefined && isForEveryone(delivery, reply.request))
      tagMissing(reply, tagging, tags, error);
    throw error;
  }
  const { isDraft } = asking;
  const collected = tags.collected();
  const made = { etag: entityTag(generation, body), isDraft, tagged: tagging?.field(collected) };
  const isCurrent = position === source.position() && !asking.varies;
  if (kept !== undefined && isCurrent) {
    const whole = kept.isRepeated ? body : undefined;
    const route = reply.request.routeOptions.url;
    kept.known.keep(kept.key, { ...made, route, position, tags: tags.all(), body: whole });
  }
  const lifetimes = isCurrent ? tagging?.lifetimes?.(collected?.fixed, began) : undefined;
  sendRead(delivery, reply, { ...made, lifetimes, isOnce: kept?.isRepeated !== true }, body);
}

/** Adds the time for which caches may keep a current answer. Later changes of it are purged. */
function lasting(tagging: Tagging | undefined, sent: SentRead, tags: KnownAnswer['tags']): SentRead {
  const lifetimes = tagging?.lifetimes?.(tags, performance.now());
  return lifetimes === undefined ? sent : { ...sent, lifetimes };
}

/** Tags a 404 about a missing document, because some caches keep it even with `no-store`. */
function tagMissing(reply: FastifyReply, tagging: Tagging, tags: AnswerTags, error: unknown): void {
  if (!(error instanceof RequestError) || error.code !== 'not-found') return;
  const collected = tags.collected();
  if (collected !== undefined) reply.header(tagging.header, tagging.value(collected));
}

/** `isDraft`: the answer shows drafts. `hasStream`: the same address also has a stream. */
type OwnAnswer = Pick<Delivery, 'generation'> & { readonly isDraft?: boolean; readonly hasStream?: boolean };

/** Answers a GET whose body depends on more than its URL and the caller's rights. Such an answer is not remembered. */
export function sendOwn(
  { generation, isDraft = false, hasStream = false }: OwnAnswer,
  reply: FastifyReply,
  body: Uint8Array,
): void {
  sendRead({}, reply, { etag: entityTag(generation, body), isDraft, hasStream }, body);
}

/** Returns the sender of a request. `isWanted` stops the work on an answer after its connection is closed. */
function askingOf({ id, raw }: FastifyRequest, tags?: AnswerTags): Asking {
  const isWanted = () => !raw.socket.destroyed;
  return { id, isWanted, isDraft: false, varies: false, tags, shown: tags?.shown };
}

/** Returns the ETag of an answer to callers with equal rights. */
export function entityTag(generation: string, body: Uint8Array): string {
  return `"${generation}${fastDigest(body)}"`;
}
