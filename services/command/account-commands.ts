import { LOGIN_ATTRIBUTE, type LoginRecord } from '../../shared/access/login-record.ts';
import { RequestError } from '../../shared/request-error.ts';
import { USER_TYPE } from '../../shared/schema/content-type.ts';
import { contentTypeOf } from '../../shared/schema/schema-registry.ts';
import type { AccountCommand, CommandResult, RegisterCommand } from './command.ts';
import type { Commit, Plan } from './commit.ts';
import { type DocumentState, decide, type Intent } from './decide.ts';
import { newDocumentId } from './document-id.ts';
import type { CommandEnvironment } from './environment.ts';
import { prepareWrite, refuse } from './prepare-write.ts';
import { notFoundError } from './problem.ts';
import type { UniqueClaim } from './unique-values.ts';

/**
 * Carries out a write of the login: a registration, or a change of a user. The change is planned on the user's state when its turn comes.
 */
export async function executeAccountCommand(
  environment: CommandEnvironment,
  commit: Commit,
  command: AccountCommand,
): Promise<CommandResult> {
  const isNew = command.kind === 'register-user';
  const { identity, author } = command;
  const documentId = isNew ? newDocumentId(environment, USER_TYPE, identity) : command.documentId;
  const type = contentTypeOf(environment.registry(), USER_TYPE);
  const plan = (state: DocumentState) =>
    isNew ? planRegistration(environment, command, state) : planChange(command, state);
  const via = isNew ? command.kind : command.via;
  const committed = await commit({ type, documentId, identity, author, via, plan });
  return { documentId, locale: null, version: 'live', ...committed };
}

function planChange(
  command: AccountCommand & { readonly kind: 'change-account' },
  state: DocumentState,
): Plan {
  const [user] = state.entries;
  if (user === undefined) throw notFoundError();
  const values = command.change(user.values);
  const intent = { kind: 'write', locale: null, values, relations: [], publish: false } as const;
  return { claims: [], decide: () => (Object.keys(values).length === 0 ? [] : decide(intent, state)) };
}

function planRegistration(
  environment: CommandEnvironment,
  { data, hash, record }: RegisterCommand,
  state: DocumentState,
): Plan {
  const { username, email, password } = data;
  const hashes = new Map([[password, hash]]);
  const prepared = prepareWrite(environment, state, { data, locale: null, publish: true, hashes });
  return {
    claims: [...prepared.claims, claimOf('username', email), claimOf('email', username)],
    decide() {
      // A username that equals the address of another user would be mistaken for that address.
      const isTaken = [email, username].some((text) =>
        ['email', 'username'].some(
          (place) =>
            environment.graph.documentWithUnique({ type: USER_TYPE, place, locale: null, text }) !==
            undefined,
        ),
      );
      if (isTaken) throw new RequestError('not-applicable', 'Email or Username are already taken');
      refuse(state.type, prepared.problems, prepared.late);
      return decide(withRecord(prepared.intent, record), state);
    },
  };
}

function claimOf(place: string, text: string): UniqueClaim {
  return { type: USER_TYPE, place, locale: null, text, value: text, at: place, isRepeated: false };
}

/** Adds the data that the login keeps about a user to a write of that user. */
export function withRecord(intent: Intent, record: LoginRecord): Intent {
  if (intent.kind !== 'write' || Object.keys(record).length === 0) return intent;
  return { ...intent, values: { ...intent.values, [LOGIN_ATTRIBUTE]: record } };
}
