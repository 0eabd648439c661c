import type { MailTemplate } from '../../shared/access/login-events.ts';
import { INITIAL_LOGIN, type LoginState, rolesOf } from '../../shared/access/login-state.ts';
import type { Rights } from '../../shared/access/rights.ts';
import { localeName } from '../../shared/locale-name.ts';
import { USER_ROLES } from '../../shared/schema/built-in-types.ts';
import { USER_TYPE } from '../../shared/schema/content-type.ts';
import { derivedDocumentId } from '../command/document-id.ts';
import { MAILS_KEY, PLUGIN_RIGHTS, SWITCHES_KEY } from './archived-login.ts';
import { PERMISSION_TYPE, ROLE_TYPE } from './stager.ts';

export type PluginFacts = {
  readonly defaultLocale: string;
  /** Locales of the content. */
  readonly locales: ReadonlySet<string>;
  readonly publicRights: Rights;
  readonly login: LoginState;
  /** Role of each user, by their ids. */
  readonly roles: ReadonlyMap<number, number>;
  /** Time in ISO 8601 for rows that Varve itself does not have. */
  readonly at: string;
};

const LOCALE_TYPE = 'plugin::i18n.locale';
const LOGIN = 'plugin::users-permissions';

/** Returns rows, links and settings of Strapi's plugins, which an import into Strapi replaces: locales, roles and their rights. */
export function exportedPlugins(facts: PluginFacts): {
  readonly entities: readonly object[];
  readonly links: readonly object[];
  readonly configuration: readonly object[];
} {
  const times = { createdAt: facts.at, updatedAt: facts.at, publishedAt: facts.at };
  const row = (type: string, id: number, data: object) => ({
    type,
    id,
    data: { documentId: derivedDocumentId(type, String(id)), ...data, ...times, locale: null },
  });
  const others = [...facts.locales].filter((code) => code !== facts.defaultLocale).sort();
  const locales = [facts.defaultLocale, ...others].map((code, at) =>
    row(LOCALE_TYPE, at + 1, { code, name: localeName(code) }),
  );
  const roles = exportedRoles(facts);
  const permissions = permissionsOf(facts);
  const linkToRole = (left: { readonly type: string; readonly ref: number }, right: object) => ({
    kind: 'relation.basic',
    relation: 'manyToOne',
    left: { type: left.type, field: 'role', ref: left.ref },
    right: { type: ROLE_TYPE, ...right },
  });
  return {
    entities: [
      ...locales,
      ...roles.map(({ id, ...data }) => row(ROLE_TYPE, id, data)),
      ...permissions.map(({ action }, at) => row(PERMISSION_TYPE, at + 1, { action })),
    ],
    links: [
      ...permissions.map(({ role }, at) =>
        linkToRole({ type: PERMISSION_TYPE, ref: at + 1 }, { field: 'permissions', ref: role, pos: at + 1 }),
      ),
      ...[...facts.roles].map(([user, role], at) =>
        linkToRole({ type: USER_TYPE, ref: user }, { field: 'users', ref: role, pos: at + 1 }),
      ),
    ],
    configuration: [
      setting('plugin_i18n_default_locale', facts.defaultLocale),
      ...loginSettings(facts.login),
    ],
  };
}

function setting(key: string, value: string | object): object {
  return { type: 'core-store', value: { key, value, type: typeof value, environment: null, tag: null } };
}

/** Returns the settings of the login. Without mails from an import, it omits their texts, so Strapi keeps its own. */
function loginSettings({ switches, mails }: LoginState): readonly object[] {
  const advanced = setting(SWITCHES_KEY, { unique_email: true, ...switches });
  if (mails === INITIAL_LOGIN.mails) return [advanced];
  const stored = (icon: string, name: string, { from, replyTo, subject, message }: MailTemplate) => ({
    display: `Email.template.${name}`,
    icon,
    options: { from, response_email: replyTo, object: subject, message },
  });
  const value = {
    reset_password: stored('sync', 'reset_password', mails.resetPassword),
    email_confirmation: stored('check-square', 'email_confirmation', mails.confirmation),
  };
  return [advanced, setting(MAILS_KEY, value)];
}

function exportedRoles({ roles, login }: PluginFacts) {
  const known = [...rolesOf(login).values()];
  const others = [...new Set(roles.values())].filter((id) => !known.some((role) => role.id === id)).sort();
  return [
    ...known.map(({ id, type, name, description }) => ({ id, type, name, description })),
    ...others.map((id) => ({ id, type: `role-${id}`, name: `Role ${id}`, description: `Role ${id} users` })),
  ];
}

/** Actions of Strapi's plugins by the first right that each gives. */
const OF_PLUGINS = Map.groupBy(Object.keys(PLUGIN_RIGHTS), (action) => PLUGIN_RIGHTS[action]?.[0]);

function permissionsOf({ login, publicRights }: PluginFacts) {
  return [...rolesOf(login).values()].flatMap(({ id, rights, login: actions }) => {
    const given = id === USER_ROLES.public ? publicRights : rights;
    const allowed = given.kind === 'custom' ? [...given.allowed].sort() : [];
    const ofContent = allowed.flatMap((right) => {
      if (/^api::.+\.(find|findOne|create|update|delete)$/.test(right)) return [right];
      return OF_PLUGINS.get(right) ?? [];
    });
    const ofLogin = [...actions].sort().map((action) => `${LOGIN}.${action}`);
    return [...ofLogin, ...ofContent].map((action) => ({ action, role: id }));
  });
}
