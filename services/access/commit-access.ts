import { type AccessEvent, accessStream } from '../../shared/access/access-events.ts';
import type { AccessState } from '../../shared/access/access-state.ts';
import type { EventMetadata } from '../../shared/event-store/event-store.ts';
import { newEvent } from '../../shared/events/new-event.ts';
import { RequestError } from '../../shared/request-error.ts';
import { type AccessControlOptions, readAccess } from './access-control.ts';

export type AccessCommitOptions = Pick<AccessControlOptions, 'log' | 'space' | 'now'> & {
  /** Returns who sent the command, and the ids of its request. */
  readonly author: () => Pick<EventMetadata, 'actor' | 'correlationId' | 'traceId'>;
};

/** Runs a command on the access stream. The position is undefined if nothing had to be appended. */
export type AccessCommit = <Result>(
  decide: (state: AccessState) => readonly [readonly AccessEvent[], Result],
) => Promise<{ readonly result: Result; readonly position: bigint | undefined }>;

const ATTEMPTS = 10;

/** Names of commands, by the type of the event that each appends. */
const COMMANDS: Readonly<Record<AccessEvent['type'], string>> = {
  'token-created': 'create-token',
  'token-revoked': 'revoke-token',
  'public-rights-set': 'set-public-rights',
  'role-defined': 'define-role',
  'login-configured': 'configure-login',
};

/** Creates commits to the access stream. Any process may append to it, so a conflict runs the command again. */
export function createAccessCommit({ log, space, now, author }: AccessCommitOptions): AccessCommit {
  return async (decide) => {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const state = await readAccess(log, space);
      const [events, result] = decide(state);
      if (events.length === 0) return { result, position: undefined };
      const at = new Date(now()).toISOString();
      const appended = await log.append(
        accessStream(space),
        state.revision ?? 'none',
        events.map((event) => newEvent(event, { at, epoch: 0, ...author(), via: COMMANDS[event.type] })),
      );
      if (appended.kind === 'appended') return { result, position: appended.position };
    }
    throw new RequestError('rights-contended', 'Access rights are being changed by others, try again');
  };
}
