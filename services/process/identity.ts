import type { EventStore } from '../../shared/event-store/event-store.ts';
import { openAccessControl } from '../access/access-control.ts';
import { openAccessKey } from '../access/access-key.ts';
import { createRoleCommands } from '../access/role-commands.ts';
import { createTokenCommands } from '../access/token-commands.ts';
import { requestOrOperator } from '../command/current-author.ts';
import { openMembership } from '../fleet/membership.ts';
import { createDeferredLogin, type DeferredLoginOptions } from './deferred-login.ts';
import type { Opened } from './opened.ts';
import type { ServingOptions } from './process-options.ts';

/** A process among those of its log, with the key that they share. */
export type Identity = Awaited<ReturnType<typeof openIdentity>>;

type IdentityOptions = Pick<ServingOptions['access'], 'accessKey'> & {
  readonly space: string;
  readonly log: EventStore;
  /** Folder of the log's file; undefined if the log is on a server. */
  readonly folder: string | undefined;
  /** Names this process. */
  readonly owner: string;
};

/** Rejects with a message if there is no key, or the log's tokens were made with another key. */
export async function openIdentity(options: IdentityOptions) {
  const { log, space, folder, owner, accessKey: given } = options;
  const key = await openAccessKey({ log, space, folder, given });
  return { log, space, key, membership: openMembership({ log, space, owner, key }) };
}

/** Callers of a process: their rights, and the commands that change these. */
export type Callers = Awaited<ReturnType<typeof openCallers>>;

/** Reads tokens, rights and roles from the log, and subscribes to their changes. */
export async function openCallers(
  { log, space, key }: Identity,
  { login, people, address }: Pick<DeferredLoginOptions, 'login' | 'people' | 'address'>,
  opened: Opened,
) {
  const options = { log, space, key, now: Date.now, login: login !== undefined };
  const access = opened(await openAccessControl(options));
  const commands = { ...options, author: requestOrOperator };
  return {
    access,
    tokens: createTokenCommands(commands),
    roles: createRoleCommands(commands),
    login: createDeferredLogin({ login, key, access, people, address }),
  };
}
