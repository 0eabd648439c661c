import type {
  LoginConfigured,
  LoginMails,
  LoginSwitches,
  MailTemplate,
  RoleDefined,
} from '../../shared/access/login-events.ts';
import { INITIAL_LOGIN, isLoginAction } from '../../shared/access/login-state.ts';
import { type Action, actionsOf, type Right } from '../../shared/access/rights.ts';
import { isRecord } from '../../shared/json-record.ts';
import { addToList } from '../../shared/map-values.ts';
import { USER_ROLES } from '../../shared/schema/built-in-types.ts';
import { FILE_TYPE, USER_TYPE } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { archivedText } from './archived-text.ts';
import type { ImportNotes } from './import-notes.ts';
import { PERMISSION_TYPE, ROLE_TYPE } from './stager.ts';
import type { Staging } from './staging.ts';

/** Roles and settings of an archive's users-permissions plugin, and the roles that lose the right to see drafts. */
export type ArchivedLogin = {
  readonly roles: readonly RoleDefined['data'][];
  readonly login: LoginConfigured['data'];
  readonly losingDrafts: readonly string[];
};

export type ArchivedLoginOptions = {
  readonly staging: Pick<Staging, 'rowsOf' | 'linksOf' | 'row'>;
  readonly registry: SchemaRegistry;
  /** Values of Strapi's settings, by key. */
  readonly settings: ReadonlyMap<string, unknown>;
  /** Types of the roles that may see drafts. */
  readonly roleDrafts: readonly string[];
  readonly notes: ImportNotes;
};

const PLUGIN = 'plugin::users-permissions.';

/** Reads roles and settings of the login from staged rows. Adds differences from Strapi to `notes`. */
export function archivedLogin(options: ArchivedLoginOptions): ArchivedLogin {
  const { staging, registry, settings, roleDrafts, notes } = options;
  const actions = actionsByRole(staging);
  const roles = staging.rowsOf(ROLE_TYPE).map(({ id, data }) => {
    const type = archivedText(data['type']);
    const given = actions.get(id) ?? [];
    const rights = new Set(given.flatMap((action) => rightsOf(action, registry)));
    // In Strapi a role sees the pictures of all entries that it may find.
    const findsContent = [...rights].some(
      (right) => !right.startsWith('plugin::') && right.endsWith('.find'),
    );
    if (findsContent && !rights.has(`${FILE_TYPE}.find`)) {
      rights.add(`${FILE_TYPE}.find`);
      notes.add(`role ${type}`, 'may list files too: without that right it would see no pictures', undefined);
    }
    return {
      id: roleNumber(staging, id),
      type,
      name: archivedText(data['name']) || type,
      description: archivedText(data['description']),
      allow: [...rights].sort(),
      drafts: roleDrafts.includes(type),
      history: false,
      login: given.flatMap((action) => loginActionOf(action)).sort(),
    };
  });
  const unknown = roleDrafts.filter((name) => !roles.some(({ type }) => type === name));
  if (roles.length > 0 && unknown.length > 0) {
    const types = roles.map(({ type }) => type).join(', ');
    throw new Error(`--role-drafts names ${unknown.join(', ')}, but the archive has only the roles ${types}`);
  }
  const losingDrafts = roles
    .filter((role) => !role.drafts && findsDrafts(role, registry))
    .map(({ type }) => type);
  return { roles, login: configurationOf(settings), losingDrafts };
}

/**
 * Returns the number of an archive's role. Strapi's own two roles have the same numbers in every log. Other roles keep their number, or get
 * a large one if it is that of Strapi's own roles.
 */
export function roleNumber(staging: Pick<Staging, 'row'>, id: number): number {
  const type = archivedText(staging.row(ROLE_TYPE, id)?.data['type']);
  if (type === 'authenticated' || type === 'public') return USER_ROLES[type];
  return id > USER_ROLES.public ? id : id + ELSEWHERE;
}

const ELSEWHERE = 1_000_000;

function actionsByRole(staging: ArchivedLoginOptions['staging']): ReadonlyMap<number, readonly string[]> {
  const actions = new Map<number, string[]>();
  for (const { id, data } of staging.rowsOf(PERMISSION_TYPE)) {
    for (const { targetId } of staging.linksOf(PERMISSION_TYPE, id))
      addToList(actions, targetId, archivedText(data['action']));
  }
  return actions;
}

/** Rights of Varve by the equivalent actions of Strapi's plugins. */
export const PLUGIN_RIGHTS: Readonly<Record<string, readonly Right[]>> = {
  [`${PLUGIN}user.find`]: [`${USER_TYPE}.find`],
  [`${PLUGIN}user.count`]: [`${USER_TYPE}.find`],
  [`${PLUGIN}user.findOne`]: [`${USER_TYPE}.findOne`],
  [`${PLUGIN}user.create`]: [`${USER_TYPE}.create`],
  [`${PLUGIN}user.update`]: [`${USER_TYPE}.update`],
  [`${PLUGIN}user.destroy`]: [`${USER_TYPE}.delete`],
  'plugin::upload.content-api.find': [`${FILE_TYPE}.find`],
  'plugin::upload.content-api.findOne': [`${FILE_TYPE}.findOne`],
  'plugin::upload.content-api.upload': [`${FILE_TYPE}.create`, `${FILE_TYPE}.update`],
  'plugin::upload.content-api.destroy': [`${FILE_TYPE}.delete`],
};

/** Returns the rights for one of Strapi's actions, such as `api::tag.tag.find`; none if Varve has no such right. */
function rightsOf(text: string, { contentTypes }: SchemaRegistry): readonly Right[] {
  const ofPlugin = Object.hasOwn(PLUGIN_RIGHTS, text) ? PLUGIN_RIGHTS[text] : undefined;
  if (ofPlugin !== undefined) return ofPlugin;
  const [, uid = '', action = ''] = /^(.+)\.([^.]+)$/.exec(text) ?? [];
  const type = contentTypes.get(uid);
  if (type === undefined || type.builtIn || !(actionsOf(type) as readonly string[]).includes(action))
    return [];
  return [`${type.uid}.${action as Action}`];
}

function loginActionOf(text: string): readonly string[] {
  const action = text.startsWith(PLUGIN) ? text.slice(PLUGIN.length) : '';
  return isLoginAction(action) ? [action] : [];
}

function findsDrafts({ allow }: RoleDefined['data'], { contentTypes }: SchemaRegistry): boolean {
  return [...contentTypes.values()].some(
    (type) => type.draftAndPublish && allow.includes(`${type.uid}.find`),
  );
}

function configurationOf(settings: ReadonlyMap<string, unknown>): LoginConfigured['data'] {
  const advanced = recordOf(settings.get(SWITCHES_KEY)) as Partial<LoginSwitches> | undefined;
  const mails = recordOf(settings.get(MAILS_KEY)) as StoredMails | undefined;
  return {
    ...(advanced === undefined ? {} : { switches: switchesOf(advanced) }),
    ...(mails === undefined ? {} : { mails: mailsOf(mails) }),
  };
}

function recordOf(value: unknown): object | undefined {
  return isRecord(value) ? value : undefined;
}

export const SWITCHES_KEY = 'plugin_users-permissions_advanced';
export const MAILS_KEY = 'plugin_users-permissions_email';

function switchesOf(given: Partial<LoginSwitches>): LoginSwitches {
  const { default_role: role, email_confirmation_redirection: to, email_reset_password: page } = given;
  return {
    allow_register: given.allow_register === true,
    email_confirmation: given.email_confirmation === true,
    email_confirmation_redirection: typeof to === 'string' && to !== '' ? to : null,
    email_reset_password: typeof page === 'string' && page !== '' ? page : null,
    default_role: typeof role === 'string' ? role : INITIAL_LOGIN.switches.default_role,
  };
}

type StoredMail = {
  readonly options?: {
    readonly from?: Partial<MailTemplate['from']>;
    readonly response_email?: string;
    readonly object?: string;
    readonly message?: string;
  };
};
type StoredMails = { readonly reset_password?: StoredMail; readonly email_confirmation?: StoredMail };

function mailsOf({ reset_password: reset, email_confirmation: confirmation }: StoredMails): LoginMails {
  const { mails } = INITIAL_LOGIN;
  return {
    resetPassword: templateOf(reset, mails.resetPassword),
    confirmation: templateOf(confirmation, mails.confirmation),
  };
}

function templateOf(stored: StoredMail | undefined, own: MailTemplate): MailTemplate {
  const { from, response_email: replyTo, object, message } = stored?.options ?? {};
  return {
    from: { name: archivedText(from?.name), email: archivedText(from?.email) },
    replyTo: archivedText(replyTo),
    subject: archivedText(object) || own.subject,
    message: archivedText(message) || own.message,
  };
}
