import { afterPasswordChange, LOGIN_ATTRIBUTE, loginRecordOf } from '../../shared/access/login-record.ts';
import { isRecord } from '../../shared/json-record.ts';
import { plainText } from '../../shared/plain-text.ts';
import { RequestError } from '../../shared/request-error.ts';
import { USER_ROLES } from '../../shared/schema/built-in-types.ts';
import { USER_TYPE } from '../../shared/schema/content-type.ts';
import { contentTypeOf } from '../../shared/schema/schema-registry.ts';
import { withRecord } from './account-commands.ts';
import type { CommandResult, UserCommand } from './command.ts';
import type { Commit } from './commit.ts';
import { type DocumentState, decide, type Intent } from './decide.ts';
import { typeMessage } from './describe-value.ts';
import { newDocumentId } from './document-id.ts';
import type { CommandEnvironment } from './environment.ts';
import { hashPasswords } from './hash-passwords.ts';
import type { Data } from './parse-data.ts';
import { refuseLongPassword } from './password-rules.ts';
import { type PreparedWrite, prepareWrite, refuse } from './prepare-write.ts';
import { type BodyProblem, notFoundError, problemsError, validationError } from './problem.ts';
import { refuseUnknownKeys } from './refuse-unknown-keys.ts';
import { documentIdIn } from './resolve-reference.ts';
import { isMailAddress, parseDatetime } from './scalar-values.ts';
import { uniqueProblems } from './unique-values.ts';

/** Keys of an answer that a client may send back. They have no effect; Strapi writes `createdAt`. */
const SYSTEM_KEYS = new Set([LOGIN_ATTRIBUTE, 'id', 'documentId', 'createdAt', 'updatedAt', 'publishedAt']);
const OWN_ROLES: ReadonlySet<number> = new Set(Object.values<number>(USER_ROLES));
/** Fields in the order of Strapi's answers (cases `users.write`). */
const FIELDS = ['email', 'username', 'password', 'role'] as const;

/**
 * Creates, changes or removes a user (SEMANTICS section 11). Errors of form are a ValidationError, and conflicts with the content are an
 * ApplicationError. Stores e-mail addresses in lower case, and passwords only as hashes.
 */
export async function executeUserCommand(
  environment: CommandEnvironment,
  commit: Commit,
  command: UserCommand,
): Promise<CommandResult> {
  const registry = environment.registry();
  const type = contentTypeOf(registry, USER_TYPE);
  const documentId = userDocument(environment, command);
  const { identity, author, kind: via } = command;
  const base = { type, documentId, identity, author, via };
  const result = { documentId, locale: null, version: 'live' } as const;
  if (command.kind === 'delete-user') {
    const plan = (state: DocumentState) => {
      if (state.entries.length === 0) throw notFoundError();
      return { claims: [], decide: () => decide({ kind: 'delete', locale: null }, state) };
    };
    return { ...result, ...(await commit({ ...base, plan })) };
  }
  const data = userData(command, environment);
  refuseUnknownKeys(registry, type, data);
  const hashes = await hashPasswords(registry, type, data, environment.userPasswords);
  const plan = (state: DocumentState) => {
    if (command.kind === 'update-user' && state.entries.length === 0) throw userNotFound(command);
    const prepared = asStrapiNames(command, () =>
      prepareWrite(environment, state, { data, locale: null, publish: true, hashes }),
    );
    return { claims: prepared.claims, decide: () => decideUser(environment, command, state, prepared) };
  };
  return { ...result, ...(await commit({ ...base, plan })) };
}

function userDocument(environment: CommandEnvironment, command: UserCommand): string {
  const { graph } = environment;
  if (command.kind === 'create-user') return newDocumentId(environment, USER_TYPE, command.identity);
  // This command may have removed the user with the number.
  const applied = command.identity === undefined ? undefined : graph.command(command.identity.id);
  if (applied !== undefined) return applied.documentId;
  const user = /^\d{1,15}$/.test(command.id) ? graph.documentOfId(USER_TYPE, Number(command.id)) : undefined;
  if (user === undefined) throw userNotFound(command);
  return user.documentId;
}

function userNotFound({ kind }: UserCommand): RequestError {
  return kind === 'update-user' ? new RequestError('not-found', 'User not found') : notFoundError();
}

function decideUser(
  { graph, now }: CommandEnvironment,
  command: UserCommand,
  state: DocumentState,
  { intent, claims, problems, late }: PreparedWrite,
) {
  const taken = uniqueProblems(graph, claims, state.documentId);
  const isTaken = (attribute: string) => taken.some(({ path }) => path === attribute);
  // For an update Strapi first checks whether the name is taken. For a creation, the validation of the entry does this.
  if (command.kind === 'update-user' && isTaken('username')) throw applicationError('Username already taken');
  if (isTaken('email')) throw applicationError('Email already taken');
  asStrapiNames(command, () => refuse(state.type, [...problems, ...taken], late));
  return decide(signingOut(intent, state, now().toISOString()), state);
}

/** Adds the end of all sessions that signed in with the former password, if the password changes. */
function signingOut(intent: Intent, state: DocumentState, at: string): Intent {
  const [user] = state.entries;
  if (intent.kind !== 'write' || user === undefined || intent.values['password'] === undefined) return intent;
  return withRecord(intent, afterPasswordChange(loginRecordOf(user.values), at));
}

function userData(
  command: UserCommand & { readonly kind: 'create-user' | 'update-user' },
  { roles, userPasswords }: CommandEnvironment,
): Data {
  const { body: sent } = command;
  if (Array.isArray(sent))
    throw problemsError([{ path: '', message: typeMessage('', 'object', sent, sent), value: sent }]);
  const body = isRecord(sent) ? sent : {};
  const isCreation = command.kind === 'create-user';
  const problems = FIELDS.flatMap((field) => fieldProblems(field, body[field], isCreation));
  if (problems.length > 0) throw problemsError(problems, FIELDS);
  const { email, role, password } = body;
  if (!isCreation && (password === '' || password === null)) throw validationError('password.notNull');
  const created = isCreation ? undefined : (body['createdAt'] ?? undefined);
  const read = created === undefined ? undefined : parseDatetime(created);
  if (read !== undefined && 'problem' in read) throw validationError(read.problem);
  if (userPasswords === 'bcrypt' && typeof password === 'string') refuseLongPassword(password);
  const own = Object.entries(body).filter(([key]) => !SYSTEM_KEYS.has(key));
  return {
    ...Object.fromEntries(own),
    ...(typeof email === 'string' ? { email: email.toLowerCase() } : {}),
    ...(role === undefined
      ? {}
      : { role: asStrapiNames(command, () => roleOf(role, roles?.() ?? OWN_ROLES)) }),
    ...(isCreation ? { provider: 'local' } : {}),
  };
}

function fieldProblems(field: (typeof FIELDS)[number], value: unknown, isCreation: boolean): BodyProblem[] {
  const isEmpty = value === '' && field !== 'role';
  const problem = (message: string) => [{ path: field, message, value }];
  if (isCreation && (value === undefined || isEmpty))
    return [{ path: field, message: `${field} is a required field` }];
  // An empty password is refused after the other fields, as in Strapi.
  if (value === undefined || (field === 'password' && !isCreation && (isEmpty || value === null))) return [];
  if (isEmpty) return problem(`${field} must be at least 1 characters`);
  if (field === 'role') return value === null ? problem(typeMessage(field, 'object', value, value)) : [];
  if (typeof value !== 'string') return problem(typeMessage(field, 'string', value, value));
  return field === 'email' && !isMailAddress(value) ? problem('email must be a valid email') : [];
}

/**
 * Returns the number of a role. Strapi accepts 1, "1" and {connect: [{id: 1}]}. Varve also accepts {id: 1}, {connect: [1]} and {set: [1]}.
 */
function roleOf(value: unknown, roles: ReadonlySet<number>): number {
  const inner = isRecord(value) ? (value['connect'] ?? value['set'] ?? value['id']) : value;
  const [item] = [inner].flat();
  const named = isRecord(item) ? item['id'] : item;
  const role = Number(typeof named === 'object' ? plainText(named) : named);
  if (roles.has(role)) return role;
  const documentId = documentIdIn(item);
  // A role has no documentId here.
  if (documentId !== undefined)
    throw validationError(`Document with id "${documentId}", locale "null" not found`);
  throw validationError(
    '1 relation(s) of type plugin::users-permissions.role associated with this entity do not exist',
  );
}

/** Runs `run`. For a creation, every refusal of the entry becomes an ApplicationError, as in Strapi. */
function asStrapiNames<Result>({ kind }: UserCommand, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    const isRefusal = error instanceof RequestError && error.code === 'invalid-body';
    throw kind === 'create-user' && isRefusal ? applicationError(error.message) : error;
  }
}

function applicationError(message: string): RequestError {
  return new RequestError('not-applicable', message);
}
