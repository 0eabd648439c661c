import { type LoginRecord, loginRecordOf } from '../../shared/access/login-record.ts';
import type { ContentGraphReader, Entry } from '../../shared/document/entry.ts';
import { USER_ROLES } from '../../shared/schema/built-in-types.ts';
import { USER_TYPE } from '../../shared/schema/content-type.ts';

/** User with the values that the login needs. */
export type Person = {
  readonly id: number;
  readonly documentId: string;
  readonly username: string;
  readonly email: string;
  /** Hash of the password; undefined if another provider logged the user in. */
  readonly password: string | undefined;
  readonly provider: string;
  readonly confirmed: boolean;
  readonly blocked: boolean;
  readonly role: number;
  readonly record: LoginRecord;
};

export type People = {
  byId(id: number): Person | undefined;
  byEmail(email: string): Person | undefined;
  byUsername(username: string): Person | undefined;
};

type Reader = Pick<ContentGraphReader, 'documentOfId' | 'documentWithUnique' | 'entries'>;

/** Finds the users of a content graph. */
export function createPeople(graph: Reader): People {
  const read = (documentId: string | undefined) => {
    const [entry] = documentId === undefined ? [] : graph.entries(USER_TYPE, documentId);
    return entry === undefined ? undefined : personOf(entry);
  };
  const byUnique = (attribute: string, value: string) =>
    read(graph.documentWithUnique({ type: USER_TYPE, place: attribute, locale: null, text: value }));
  return {
    byId: (id) => read(graph.documentOfId(USER_TYPE, id)?.documentId),
    byEmail: (email) => byUnique('email', email),
    byUsername: (username) => byUnique('username', username),
  };
}

function personOf({ id, documentId, values }: Entry): Person {
  const { username, email, password, provider, confirmed, blocked, role } = values;
  return {
    id,
    documentId,
    username: String(username),
    email: String(email),
    password: typeof password === 'string' ? password : undefined,
    provider: typeof provider === 'string' ? provider : 'local',
    confirmed: confirmed === true,
    blocked: blocked === true,
    role: typeof role === 'number' ? role : USER_ROLES.authenticated,
    record: loginRecordOf(values),
  };
}

/** Returns when Varve stored the password, in milliseconds since 1970; undefined if it did not. */
export function passwordAt({ changedAt }: LoginRecord): number | undefined {
  return changedAt === undefined ? undefined : Date.parse(changedAt);
}
