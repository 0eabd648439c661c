import { accessStream } from '../../shared/access/access-events.ts';
import {
  type AccessState,
  evolveAccess,
  INITIAL_ACCESS,
  type Token,
  tokenStatus,
  withLogin,
} from '../../shared/access/access-state.ts';
import { FULL_ACCESS, type Rights } from '../../shared/access/rights.ts';
import { UNKNOWN_TOKEN } from '../../shared/access/unknown-token.ts';
import type { Actor, EventStore, StoredEvent } from '../../shared/event-store/event-store.ts';
import { stateAfterAll, stopsReaders } from '../../shared/event-store/unreadable.ts';
import { watchStream } from '../../shared/event-store/watch-stream.ts';
import { rememberLast } from '../../shared/remembered.ts';
import { RequestError } from '../../shared/request-error.ts';
import { isSameText } from '../../shared/text-digest.ts';
import { hashSecret, isSecret, isTokenValue } from './token-secret.ts';

export type AccessControlOptions = {
  readonly log: EventStore;
  readonly space: string;
  /** Hashes secrets; see readAccessKey. */
  readonly key: Buffer;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** True if people log in here: then roles also grant rights. */
  readonly login?: boolean;
};

/** Tokens and rights at the log's end. */
export type AccessControl = {
  state(): AccessState;
  /** Returns the rights of the sender of this `Authorization` header. Throws RequestError 401 for an invalid token. */
  authenticate(authorization: string | undefined): Rights;
  /** Returns whether this `Authorization` header has a valid token. */
  isToken(authorization: string | undefined): boolean;
  /** Returns the sender of this `Authorization` header: an anonymous caller if the header has no valid token. */
  actorOf(authorization: string | undefined): Actor;
  /** Returns whether the header has the form of a token that is unknown here. Another process may just have made such a token. */
  mayBecomeValid(authorization: string | undefined): boolean;
  /** Returns the time in milliseconds at which the token of this header expires; undefined without a valid token that expires. */
  expiresAt(authorization: string | undefined): number | undefined;
  /** Records that events have changed these users, by documentId. */
  usersChanged(users: ReadonlySet<string>): void;
  /** Calls `changed` with users that have changed, and without them after a change of tokens and roles. */
  watch(changed: (users?: ReadonlySet<string>) => void): void;
  /** Resolves with true as soon as every access event up to `position` is applied, with false after `timeoutMs`. */
  applied(position: bigint, timeoutMs?: number): Promise<boolean>;
  /** Rejects when the log cannot be read any more; resolves on close. */
  readonly done: Promise<void>;
  close(): Promise<void>;
};

/**
 * Reads the access stream and subscribes to it: an event of any process takes effect here when the subscription delivers it. After an event
 * of that stream that this program cannot read, no later event changes the rights. Only revocations still take effect.
 */
export async function openAccessControl(options: AccessControlOptions): Promise<AccessControl> {
  const { log, space, key, now } = options;
  const watchers: ((users?: ReadonlySet<string>) => void)[] = [];
  const effective = options.login === true ? rememberLast(withLogin) : (read: AccessState) => read;
  const watched = await watchStream<StoppableAccess>(log, {
    stream: accessStream(space),
    read: () => readUpTo(log, space),
    evolve: evolveUpTo,
    changed() {
      for (const changed of watchers) changed();
    },
  });
  const { applied, done, close } = watched;
  const stateNow = () => watched.state().state;
  const tokenIn = (authorization: string | undefined): Token | undefined => {
    const secret = bearerToken(authorization);
    return secret === undefined ? undefined : tokenOf(stateNow(), key, secret, now());
  };
  return {
    state: () => effective(stateNow()),
    authenticate(authorization) {
      const secret = bearerToken(authorization);
      const token = secret === undefined ? undefined : tokenOf(stateNow(), key, secret, now());
      if (token !== undefined) return token.rights;
      // The error is the same for a token that is unknown, was revoked or has expired.
      if (secret !== undefined) throw new RequestError('unauthorized', UNKNOWN_TOKEN);
      const { development, publicRights } = effective(stateNow());
      return development ? FULL_ACCESS : publicRights;
    },
    isToken: (authorization) => tokenIn(authorization) !== undefined,
    actorOf(authorization) {
      const token = tokenIn(authorization);
      if (token !== undefined) return { kind: 'token', id: token.id, name: token.name };
      return { kind: effective(stateNow()).development ? 'development' : 'anonymous' };
    },
    mayBecomeValid(authorization) {
      const secret = bearerToken(authorization);
      return secret !== undefined && hasTokenForm(secret) && !stateNow().byHash.has(hashSecret(key, secret));
    },
    expiresAt(authorization) {
      const { expiresAt = null } = tokenIn(authorization) ?? {};
      return expiresAt === null ? undefined : Date.parse(expiresAt);
    },
    usersChanged(users) {
      if (users.size > 0) for (const changed of watchers) changed(users);
    },
    watch: (changed) => void watchers.push(changed),
    applied,
    done,
    close,
  };
}

/**
 * Returns the current state of the access stream. Throws UnreadableEvent if it has an event that this program cannot read: then rights are
 * unknown.
 */
export function readAccess(log: EventStore, space: string): Promise<AccessState> {
  return stateAfterAll(log.readStream(accessStream(space)), INITIAL_ACCESS, evolveAccess);
}

/** Returns the state up to the first event that this program cannot read, with the revocations after that event. */
export async function readAccessUpTo(log: EventStore, space: string): Promise<AccessState> {
  return (await readUpTo(log, space)).state;
}

async function readUpTo(log: EventStore, space: string): Promise<StoppableAccess> {
  let read: StoppableAccess = { state: INITIAL_ACCESS, isStopped: false };
  for await (const event of log.readStream(accessStream(space))) read = evolveUpTo(read, event);
  return read;
}

type StoppableAccess = { readonly state: AccessState; readonly isStopped: boolean };

/** After an event that this program cannot read, only revocations take effect, because they can only remove rights. */
function evolveUpTo({ state, isStopped: before }: StoppableAccess, event: StoredEvent): StoppableAccess {
  const isStopped = before || stopsReaders(event);
  const counts = !isStopped || event.type === 'token-revoked';
  return { state: counts ? evolveAccess(state, event) : state, isStopped };
}

/** Form of credentials: a scheme, spaces, and a value (RFC 9110, section 11.4). */
const CREDENTIALS = /^([\w!#$%&'*+.^`|~-]+) +(\S.*)$/;

/** Returns the bearer token of a request. Other schemes are ignored, as in Strapi: the caller is anonymous. */
export function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const [, scheme, value = ''] = CREDENTIALS.exec(authorization) ?? [];
  // A malformed header is treated as an invalid token.
  if (scheme === undefined) return '';
  return scheme.toLowerCase() === 'bearer' ? value.trim() : undefined;
}

function tokenOf(state: AccessState, key: Buffer, secret: string, now: number): Token | undefined {
  if (!isTokenValue(secret)) return undefined;
  const hash = hashSecret(key, secret);
  const token = state.byHash.get(hash);
  if (token === undefined || !isSameText(token.hash, hash)) return undefined;
  return tokenStatus(token, now) === 'active' ? token : undefined;
}

/** Returns whether a text may be a token. A JWT is not a token: it becomes valid in another way. */
function hasTokenForm(text: string): boolean {
  return isSecret(text) || (isTokenValue(text) && !text.includes('.'));
}
