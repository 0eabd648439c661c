import type { AccessEvent } from '../../shared/access/access-events.ts';
import type { LoginConfigured, RoleDefined } from '../../shared/access/login-events.ts';
import { evolveLogin, INITIAL_LOGIN, type LoginState, type Role } from '../../shared/access/login-state.ts';
import { rightsKey } from '../../shared/access/rights.ts';
import { type AccessCommitOptions, createAccessCommit } from './commit-access.ts';

export type RoleCommands = {
  /**
   * Defines roles and configures the login. Appends events only for changes. Resolves with the position of the change, from which on it is
   * in force; undefined if nothing changed.
   */
  change(
    roles: readonly RoleDefined['data'][],
    login: LoginConfigured['data'],
  ): Promise<{ readonly position: bigint | undefined }>;
};

/** Creates the commands that change roles and the switches of the login on the access stream. */
export function createRoleCommands(options: AccessCommitOptions): RoleCommands {
  const commit = createAccessCommit(options);
  return {
    async change(roles, login) {
      const { position } = await commit(({ login: state }) => {
        const defined = roles.filter((data) => !isDefined(state, data));
        const events: readonly AccessEvent[] = [
          ...defined.map((data) => ({ type: 'role-defined', data }) as const),
          ...(changes(state, login) ? [{ type: 'login-configured', data: login } as const] : []),
        ];
        return [events, undefined];
      });
      return { position };
    },
  };
}

const IMPORT = { actor: { kind: 'import' } } as const;

/** Returns a command that stores the roles of an import. */
export function importRoles({
  log,
  space,
}: Pick<AccessCommitOptions, 'log' | 'space'>): RoleCommands['change'] {
  return createRoleCommands({ log, space, now: Date.now, author: () => IMPORT }).change;
}

function isDefined({ roles }: LoginState, data: RoleDefined['data']): boolean {
  const known = roles.get(data.id);
  const wanted = evolveLogin(INITIAL_LOGIN, { type: 'role-defined', data }).roles.get(data.id);
  return known !== undefined && wanted !== undefined && roleText(known) === roleText(wanted);
}

function roleText({ type, name, description, rights, login }: Role): string {
  return JSON.stringify([type, name, description, rightsKey(rights), [...login].sort()]);
}

function changes(state: LoginState, { switches, mails }: LoginConfigured['data']): boolean {
  const differs = (wanted: object | undefined, known: object) =>
    wanted !== undefined && JSON.stringify(wanted) !== JSON.stringify(known);
  return differs(switches, state.switches) || differs(mails, state.mails);
}
