import { defined } from '../../../shared/defined.ts';
import { RequestError } from '../../../shared/request-error.ts';
import { USER_TYPE } from '../../../shared/schema/content-type.ts';
import { contentTypeOf } from '../../../shared/schema/schema-registry.ts';
import type { AnswerTerms } from '../../../shared/turns/turns.ts';
import type { CommandResult } from '../../command/command.ts';
import { answerBareEntry } from '../../query/answer-entry.ts';
import { answerBareList, answerCount, answerList } from '../../query/answer-list.ts';
import { planEntry, planList, planUsersEntry, planUsersList } from '../../query/plan-query.ts';
import { answerToWrite } from './answer-to-write.ts';
import { createCallerReads } from './caller-reads.ts';
import type { UsersApi, WriteAnswer } from './content-api.ts';
import type { ContentApiOptions } from './content-api-options.ts';

const OPEN = Buffer.from('{"data":');
const CLOSE = Buffer.from(',"meta":{}}');

/**
 * Creates the API of `/api/users`. With `usersEnvelope` answers have `data` and `meta`, and unknown parameters are refused, as for other
 * collections. Otherwise answers are bare, and unknown parameters are ignored, as in Strapi (SEMANTICS section 11). Request bodies are
 * always bare.
 */
export function createUsersApi(options: ContentApiOptions): UsersApi {
  const { index, commands, usersEnvelope } = options;
  const { request: requestOf, read } = createCallerReads(options);
  const type = contentTypeOf(options.registry, USER_TYPE);
  const request = (query: string) => requestOf(type, query);
  const list = usersEnvelope ? planList : planUsersList;
  const one = async (id: string, query: string, terms?: AnswerTerms) => {
    const plan = (usersEnvelope ? planEntry : planUsersEntry)(request(query));
    const user = await answerBareEntry(index, plan, userNumber(id), terms);
    if (user === null) return undefined;
    return usersEnvelope ? Buffer.concat([OPEN, user, CLOSE]) : user;
  };
  const present = async ({ documentId, position, applied, unshown }: CommandResult): Promise<WriteAnswer> => {
    const id = applied ? options.userId(documentId) : undefined;
    const answer = async (terms: AnswerTerms) => (await one(String(id), '', terms)) ?? null;
    const body = id === undefined ? null : await answerToWrite(answer);
    return { documentId, position, body, ...defined({ unshown }) };
  };
  return {
    list: (query, asking) =>
      read({ type, query, asking }, list, (plan, observed) =>
        (usersEnvelope ? answerList : answerBareList)(observed, plan, asking),
      ),
    count: (query) => answerCount(index, list(request(query))),
    async one(id, query) {
      const user = await one(id, query);
      if (user === undefined && usersEnvelope) throw new RequestError('not-found', 'Not Found');
      return user;
    },
    me: async (id, query) => (await answerBareEntry(index, planUsersEntry(request(query)), id)) ?? undefined,
    create: async (body, identity) =>
      present(await commands.execute({ kind: 'create-user', body, identity })),
    async update(id, body, identity) {
      userNumber(id);
      return present(await commands.execute({ kind: 'update-user', id, body, identity }));
    },
    async remove(id, identity) {
      const body = (await one(id, '')) ?? null;
      const { documentId, position } = await commands.execute({ kind: 'delete-user', id, identity });
      return { documentId, position, body };
    },
  };
}

function userNumber(id: string): number {
  if (/^-?\d{1,15}$/.test(id)) return Number(id);
  throw new RequestError(
    'invalid-query',
    `Invalid parameter at 'id'. Expected the number of a user, received: ${id}`,
    {
      found: id,
      accepted: 'the numeric id of a user',
    },
  );
}
