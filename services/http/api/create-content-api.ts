import { defined } from '../../../shared/defined.ts';
import type { CommandIdentity } from '../../../shared/event-store/event-store.ts';
import { MATCH_ALL } from '../../../shared/read-index/bool-query.ts';
import { firstRow } from '../../../shared/read-index/first-row.ts';
import type { ReadIndex, World } from '../../../shared/read-index/read-index.ts';
import { RequestError } from '../../../shared/request-error.ts';
import type { ContentType } from '../../../shared/schema/content-type.ts';
import type { AnswerTerms } from '../../../shared/turns/turns.ts';
import type { ActionCommand, CommandResult, WriteCommand } from '../../command/command.ts';
import { partOf } from '../../command/command-identity.ts';
import { writableData } from '../../command/refuse-unknown-keys.ts';
import { answerEntry } from '../../query/answer-entry.ts';
import { answerList } from '../../query/answer-list.ts';
import { answerSuggest } from '../../query/answer-suggest.ts';
import { givenLocale } from '../../query/locale.ts';
import {
  type EntryPlan,
  planEntry,
  planList,
  planRemoval,
  planWrite,
  type QueryRequest,
  refuseRemovalNames,
} from '../../query/plan-query.ts';
import { planSuggest } from '../../query/plan-suggest.ts';
import { isQueryList, parseQueryString } from '../../query/query-string.ts';
import { createLocalesAnswer } from './answer-locales.ts';
import { answerToWrite } from './answer-to-write.ts';
import { createCallerReads } from './caller-reads.ts';
import type { Asking, ContentApi, EntryAction, EntryTarget, WriteAnswer } from './content-api.ts';
import type { ContentApiOptions } from './content-api-options.ts';
import { createUsersApi } from './create-users-api.ts';
import { matchingLocales } from './matching-locales.ts';

/** Creates the content API for one caller. It plans reads and runs them on the index. Writes are commands, answered from the index. */
export function createContentApi(options: ContentApiOptions): ContentApi {
  const { index } = options;
  const { request, read } = createCallerReads(options);
  const { putSingle, ...entries } = entryWrites(options, request);
  return {
    ...entries,
    list: (type, query, asking) =>
      read({ type, query, asking }, planList, (plan, observed) => {
        noteWorld(asking, plan.search.world);
        asking?.tags?.list(plan);
        if (asking !== undefined) asking.varies = plan.explain !== undefined;
        return answerList(observed, plan, asking);
      }),
    suggest: (type, query, asking) =>
      read({ type, query, asking }, planSuggest, (plan, observed) => {
        noteWorld(asking, plan.list.search.world);
        asking?.tags?.list(plan.list);
        return answerSuggest(observed, plan, asking);
      }),
    async entry(type, documentId, query, asking) {
      const body = await read({ type, query, asking }, planEntry, (plan, observed) => {
        noteWorld(asking, plan.world);
        asking?.tags?.entry(plan, documentId);
        return answerEntry(observed, plan, documentId, asking);
      });
      return found(body);
    },
    async single(type, query, asking) {
      const body = await read({ type, query, asking }, planEntry, async (plan, observed) => {
        noteWorld(asking, plan.world);
        asking?.tags?.single(plan);
        const documentId = await singleDocument(observed, type);
        return documentId === undefined ? null : answerEntry(observed, plan, documentId, asking);
      });
      return found(body);
    },
    async putSingle(type, query, body, command) {
      const documentId = await singleDocument(index, type);
      return putSingle({ type, ...defined({ documentId }) }, query, body, command);
    },
    async removeSingle(type, query, command) {
      const documentId = await singleDocument(index, type);
      if (documentId !== undefined) return entries.remove({ type, documentId }, query, command);
      refuseRemovalNames(request(type, query));
      return index.position();
    },
    locales: createLocalesAnswer(options),
    users: createUsersApi(options),
  };
}

function noteWorld(asking: Asking | undefined, world: World): void {
  if (asking !== undefined) asking.isDraft = world === 'draft';
}

type Identity = CommandIdentity | undefined;
type EntryCommand = WriteCommand | ActionCommand;
type Untargeted<Kind> = Kind extends EntryCommand ? Omit<Kind, 'type' | 'status' | 'locale'> : never;

function entryWrites(
  { index, commands, defaultLocale }: ContentApiOptions,
  request: (type: ContentType, query: string) => QueryRequest,
) {
  /** Plans the answer first, so that a wrong query string is refused before anything is written. */
  const write = async (type: ContentType, query: string, command: Untargeted<EntryCommand>) => {
    const asked = request(type, query);
    const plan = planWrite(asked, () => {
      if ('body' in command) writableData(asked.registry, type, command.body);
    });
    const { status, locale } = parseQueryString(query);
    const target = { type: type.uid, status, locale: givenLocale(locale) };
    return present(index, plan, await commands.execute({ ...command, ...target }));
  };
  return {
    create: (type: ContentType, query: string, body: unknown, identity: Identity) =>
      write(type, query, { kind: 'create', body, identity }),
    update: ({ type, documentId }: EntryTarget, query: string, body: unknown, identity: Identity) =>
      write(type, query, { kind: 'update', documentId, body, identity }),
    restore: ({ type, documentId }: EntryTarget, query: string, body: unknown, identity: Identity) =>
      write(type, query, { kind: 'restore', documentId, body, identity }),
    /** Writes the entry of a single type. Without a `documentId` the type has no entry yet. */
    putSingle: (
      { type, ...existing }: { readonly type: ContentType; readonly documentId?: string },
      query: string,
      body: unknown,
      identity: Identity,
    ) => write(type, query, { kind: 'put-single', ...existing, body, identity }),
    act: ({ type, documentId }: EntryTarget, kind: EntryAction, query: string, identity: Identity) =>
      write(type, query, { kind, documentId, identity }),
    async remove({ type, documentId }: EntryTarget, query: string, identity: Identity) {
      const plan = planRemoval(request(type, query));
      const { status, locale: asked, ...others } = parseQueryString(query);
      const locale = givenLocale(asked);
      const remove = async (one: unknown, command: Identity) => {
        const target = { type: type.uid, documentId, status, locale: one };
        return (await commands.execute({ kind: 'delete', ...target, identity: command })).position;
      };
      const isPlain = others['filters'] === undefined && others['_q'] === undefined;
      if (isPlain && !isQueryList(locale)) return remove(locale, identity);
      const wanted = isQueryList(locale) ? locale.map(String) : [locale ? String(locale) : defaultLocale];
      let position = index.position();
      for (const one of await matchingLocales(index, plan, documentId, wanted)) {
        position = await remove(one, partOf(identity, String(one)));
      }
      return position;
    },
  };
}

/** Returns the answer to a command: the written row, in the world in which reads show it. */
async function present(index: ReadIndex, plan: EntryPlan, result: CommandResult): Promise<WriteAnswer> {
  const { documentId, position, unshown } = result;
  if (!result.applied) return { documentId, position, body: null, ...defined({ unshown }) };
  const world: World = result.version === 'live' ? plan.world : result.version;
  // The answer to an action on every locale is the default locale.
  const locale = plan.locale.kind === 'all' ? ({ kind: 'default' } as const) : plan.locale;
  const answer = async (terms: AnswerTerms) =>
    found(await answerEntry(index, { ...plan, world, locale }, documentId, terms));
  return { documentId, position, body: await answerToWrite(answer) };
}

/** Returns the document of a single type. An import may have left several documents: then it is the oldest. */
async function singleDocument(index: ReadIndex, type: ContentType): Promise<string | undefined> {
  const search = { type: type.uid, world: 'draft', query: MATCH_ALL } as const;
  return (await firstRow<{ readonly documentId: string }>(index, search))?.documentId;
}

function found<Body>(body: Body | null): Body {
  if (body === null) throw new RequestError('not-found', 'Not Found');
  return body;
}
