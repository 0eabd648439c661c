import type { FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import { may, type Rights } from '../../../shared/access/rights.ts';
import { RequestError } from '../../../shared/request-error.ts';
import type { ContentType } from '../../../shared/schema/content-type.ts';
import { routeNameOf } from '../../../shared/schema/schema-registry.ts';
import type { DocumentHistory } from '../../history/document-history.ts';
import { type HistoryQuestion, mayAsk } from '../../history/question.ts';
import { JSON_HEADERS } from '../answers/responses.ts';
import { sendOwn } from '../api/cacheable.ts';
import type { CallerApi } from '../api/caller-apis.ts';
import type { ContentApi, WriteAnswer } from '../api/content-api.ts';
import { forbidden } from '../api/guard-content-api.ts';
import { acceptForLeader } from '../forwarding/accept-for-leader.ts';
import type { ForwardingOptions } from '../forwarding/forward-writes.ts';
import { ASKED_HISTORY, HISTORY_PATH } from '../forwarding/leader-history.ts';
import { idOf, partOfPath, queryOf, type RouteContext, readEntry, sendWrite } from './entry-routes.ts';

export type HistoryRoutesOptions = {
  /** Absent: this process serves content types that are being replaced. */
  readonly history?: DocumentHistory | undefined;
  readonly apiFor: (rights: Rights) => CallerApi;
  readonly forwarding: Pick<ForwardingOptions, 'fleet' | 'commands'>;
};

/**
 * Registers the history of documents: their versions, the differences of two versions, deleted documents, and `actions/restore`. Callers
 * without the right get the answer to a path or document that does not exist. So no path has other methods.
 */
export function registerHistory(context: RouteContext, options: HistoryRoutesOptions): void {
  for (const type of context.registry.contentTypes.values()) {
    if (type.builtIn) continue;
    const path = `/api/${routeNameOf(type)}`;
    const isSingle = type.kind === 'singleType';
    registerVersions(context, options, type, isSingle ? path : `${path}/:id`);
    if (!isSingle) registerDeleted(context, options, type, path);
  }
  const { app } = context;
  const members = Object.keys(ASKED_HISTORY.shape);
  app.post(HISTORY_PATH, { config: { members } }, (request, reply) =>
    answerElsewhere(options, request, reply),
  );
}

function registerVersions(
  { app, apiOf }: RouteContext,
  options: HistoryRoutesOptions,
  { uid: type }: ContentType,
  path: string,
): void {
  const get = (url: string, kind: HistoryQuestion['kind']) =>
    app.get(url, async (request, reply) => {
      const question = questionOf(request, kind, type);
      if (!mayAsk(options.apiFor(request.rights), question)) return reply.callNotFound();
      return answer(options, question, request, reply);
    });
  get(`${path}/versions`, 'versions');
  get(`${path}/versions/:version`, 'version');
  get(`${path}/versions/:version/diff`, 'diff');
  app.route({
    method: 'POST',
    url: `${path}/actions/restore`,
    preHandler(request, reply, done) {
      if (mayAsk(options.apiFor(request.rights), { kind: 'version', type })) done();
      else reply.callNotFound();
    },
    handler: async (request, reply) =>
      restore(options, apiOf(request), questionOf(request, 'version', type), [request, reply]),
  });
}

/** Registers `_deleted`, which can be no documentId: those of Strapi have 24 characters. */
function registerDeleted(
  context: RouteContext,
  options: HistoryRoutesOptions,
  type: ContentType,
  path: string,
): void {
  const asDocument = readEntry(context, type, '_deleted');
  context.app.get(`${path}/_deleted`, async (request, reply) => {
    const question = questionOf(request, 'deleted', type.uid);
    if (!mayAsk(options.apiFor(request.rights), question)) return asDocument(request, reply);
    return answer(options, question, request, reply);
  });
}

function questionOf(request: FastifyRequest, kind: HistoryQuestion['kind'], type: string): HistoryQuestion {
  const documentId = idOf(request) || undefined;
  const version = partOfPath(request, 'version') || undefined;
  return { kind, type, documentId, version, query: queryOf(request) };
}

async function answer(
  options: HistoryRoutesOptions,
  question: HistoryQuestion,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const api = options.apiFor(request.rights);
  const caller = { ...api, authorization: request.headers.authorization };
  const body = await historyOf(options).answer(caller, question);
  sendOwn({ ...api.delivery, isDraft: true }, reply, Buffer.from(JSON.stringify(body)));
}

/** Answers for a process without a graph, with the rights of its caller. Other senders get a 404. */
async function answerElsewhere(
  options: HistoryRoutesOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<string> {
  acceptForLeader(options.forwarding, request);
  const question = ASKED_HISTORY.parse(request.body);
  const caller = { ...options.apiFor(request.rights), authorization: request.headers.authorization };
  reply.headers(JSON_HEADERS);
  return JSON.stringify(await historyOf(options).answer(caller, question as HistoryQuestion));
}

function historyOf({ history }: HistoryRoutesOptions): DocumentHistory {
  if (history !== undefined) return history;
  throw new RequestError('starting', 'The content types are being replaced: try again soon');
}

const RESTORE_FORM = z.strictObject({
  data: z.strictObject({ version: z.string().regex(/^\d{1,20}$/) }),
});

/** Writes a version as the draft. The caller also needs the right to create a document that was deleted. */
async function restore(
  options: HistoryRoutesOptions,
  api: Pick<ContentApi, 'restore'>,
  question: HistoryQuestion,
  [request, reply]: readonly [FastifyRequest, FastifyReply],
): Promise<void> {
  const caller = options.apiFor(request.rights);
  const type = caller.registry.contentTypes.get(question.type) as ContentType;
  const write = (documentId: string, query: string, data: unknown) =>
    api.restore({ type, documentId }, query, { data }, request.command);
  // Only checks the rights, and throws NotLeading.
  if (request.isElsewhere) await write(question.documentId ?? '', '', {});
  const form = RESTORE_FORM.safeParse(request.body);
  if (!form.success)
    throw new RequestError('invalid-body', 'Expected {"data":{"version":"<id of a version>"}}', {
      source: 'body',
      accepted: { data: { version: 'the id of a version' } },
    });
  const { authorization } = request.headers;
  const { version } = form.data.data;
  const found = await historyOf(options).restorable({ ...caller, authorization }, { ...question, version });
  if (found.isDeleted && type.kind === 'collectionType' && !may(request.rights, type.uid, 'create'))
    throw forbidden();
  const written = await write(found.documentId, queryFor(type, found.locale), found.data);
  sendWrite(reply, 200, { ...written, body: withMeta(written, { restored: found.restored }) });
}

function queryFor({ draftAndPublish }: ContentType, locale: string | null): string {
  const status = draftAndPublish ? ['status=draft'] : [];
  return [...status, ...(locale === null ? [] : [`locale=${encodeURIComponent(locale)}`])].join('&');
}

/** Adds members to the `meta` of an answer. */
function withMeta({ body }: WriteAnswer, meta: object): Uint8Array | null {
  if (body === null) return null;
  const { data } = JSON.parse(Buffer.from(body).toString()) as { readonly data: unknown };
  return Buffer.from(JSON.stringify({ data, meta }));
}
