import { assertNever } from '../../shared/assert-never.ts';
import { createLocks, type Locks } from '../../shared/locks.ts';
import type { ContentType } from '../../shared/schema/content-type.ts';
import { contentTypeOf } from '../../shared/schema/schema-registry.ts';
import { executeAccountCommand } from './account-commands.ts';
import { planAction, refuseActionWithoutDrafts } from './action-plan.ts';
import type { ActionCommand, Command, CommandResult, WriteCommand } from './command.ts';
import { type Commit, type CommitRequest, createCommit } from './commit.ts';
import { type DocumentState, decide } from './decide.ts';
import { derivedDocumentId, newDocumentId } from './document-id.ts';
import type { CommandEnvironment } from './environment.ts';
import { hashPasswords } from './hash-passwords.ts';
import { type Data, listError } from './parse-data.ts';
import { prepareWrite, refuse, refuseUnknownDocuments, type WriteRequest } from './prepare-write.ts';
import { notFoundError } from './problem.ts';
import { writableData } from './refuse-unknown-keys.ts';
import { uniqueProblems } from './unique-values.ts';
import { executeUserCommand } from './user-commands.ts';
import { parseWriteLocale, parseWriteStatus } from './write-target.ts';

export type CommandHandler = {
  /**
   * Carries a command out. When the promise resolves, it is durable and visible to every later read of this process (unless the result says
   * `applied: false`). Rejects with a RequestError if the command is refused: 400, 404, 409, 503.
   */
  execute(command: Command): Promise<CommandResult>;
};

/** Creates the write side of a namespace. A namespace has only one: that of the leader. */
export function createCommandHandler(
  environment: CommandEnvironment,
  locks: Locks = createLocks(),
): CommandHandler {
  const commit = createCommit(environment, locks);
  return {
    async execute(given) {
      const command = { ...given, author: given.author ?? environment.author?.() };
      switch (command.kind) {
        case 'create':
        case 'update':
        case 'put-single':
        case 'restore':
          return executeWrite(environment, commit, command);
        case 'publish':
        case 'unpublish':
        case 'discard-draft':
        case 'delete':
          return executeAction(environment, commit, command);
        case 'create-user':
        case 'update-user':
        case 'delete-user':
          return executeUserCommand(environment, commit, command);
        case 'register-user':
        case 'change-account':
          return executeAccountCommand(environment, commit, command);
        default:
          return assertNever(command);
      }
    },
  };
}

async function executeWrite(
  environment: CommandEnvironment,
  commit: Commit,
  command: WriteCommand,
): Promise<CommandResult> {
  const registry = environment.registry();
  const type = contentTypeOf(registry, command.type);
  // Strapi looks at the names in the body before the values of the query string.
  const payload = writableData(registry, type, command.body);
  const publish = parseWriteStatus(command.status) === 'published';
  const locale = parseWriteLocale(type, command.locale, environment.defaultLocale, 'one-only');
  const isList = Array.isArray(payload);
  const data = isList ? {} : (payload as Data);
  const hashes = await hashPasswords(registry, type, data);
  const request = { data, locale, publish, hashes };
  const documentId = documentIdOf(environment, command);
  const mayCreate = command.kind !== 'update';
  const committed = await commit({
    ...commitRequest(command, type, documentId),
    plan: (state) => {
      if (!mayCreate && state.entries.length === 0) {
        refuseUnknownDocuments(environment, type, request);
        throw notFoundError();
      }
      if (isList) throw listError(payload);
      return planWrite(environment, state, request);
    },
  });
  const version = type.draftAndPublish ? (publish ? 'published' : 'draft') : 'live';
  return { documentId, locale, version, ...committed };
}

/**
 * Returns the documentId of a new document. A repeated command with an identity gets the same id. All first writes of a single type get the
 * same id, so that there is never a second document.
 */
function documentIdOf(environment: CommandEnvironment, command: WriteCommand): string {
  switch (command.kind) {
    case 'update':
    case 'restore':
      return command.documentId;
    case 'put-single':
      return command.documentId ?? derivedDocumentId(environment.space, command.type);
    case 'create':
      return newDocumentId(environment, command.type, command.identity);
    default:
      return assertNever(command);
  }
}

function planWrite(environment: CommandEnvironment, state: DocumentState, request: WriteRequest) {
  const { intent, claims, problems, late } = prepareWrite(environment, state, request);
  return {
    claims,
    decide: () => {
      const taken = uniqueProblems(environment.graph, claims, state.documentId);
      refuse(state.type, [...problems, ...taken], late);
      return decide(intent, state);
    },
  };
}

async function executeAction(
  environment: CommandEnvironment,
  commit: Commit,
  command: ActionCommand,
): Promise<CommandResult> {
  const { kind, documentId } = command;
  const type = contentTypeOf(environment.registry(), command.type);
  const locale = parseWriteLocale(type, command.locale, environment.defaultLocale, 'every-allowed');
  refuseActionWithoutDrafts(type, command);
  const committed = await commit({
    ...commitRequest(command, type, documentId),
    plan: (state) => planAction(environment, state, { kind, locale }),
  });
  const version = type.draftAndPublish ? (kind === 'publish' ? 'published' : 'draft') : 'live';
  return { documentId, locale, version, ...committed };
}

function commitRequest(
  { identity, author, kind }: Command,
  type: ContentType,
  documentId: string,
): Omit<CommitRequest, 'plan'> {
  return { type, documentId, identity, author, via: kind };
}
