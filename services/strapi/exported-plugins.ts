import type { Rights } from '../../shared/access/rights.ts';
import { USER_ROLES } from '../../shared/schema/built-in-types.ts';
import { USER_TYPE } from '../../shared/schema/content-type.ts';
import { derivedDocumentId } from '../command/document-id.ts';
import { PERMISSION_TYPE, ROLE_TYPE } from './stage-archive.ts';

export type PluginFacts = {
  readonly defaultLocale: string;
  /** Locales of the content. */
  readonly locales: ReadonlySet<string>;
  readonly publicRights: Rights;
  /** Role of each user, by their ids. */
  readonly roles: ReadonlyMap<number, number>;
  /** ISO 8601: when rows were made that Varve does not have. */
  readonly at: string;
};

const LOCALE_TYPE = 'plugin::i18n.locale';
const LOGIN = 'plugin::users-permissions';

/** Rights of Strapi's login callers when it creates its roles. */
const OWN_RIGHTS: Readonly<Record<keyof typeof USER_ROLES, readonly string[]>> = {
  authenticated: ['auth.changePassword', 'user.me'].map((action) => `${LOGIN}.${action}`),
  public: [
    ...['auth.callback', 'auth.connect', 'auth.forgotPassword', 'auth.resetPassword', 'auth.register'],
    ...['auth.emailConfirmation', 'auth.sendEmailConfirmation'],
  ].map((action) => `${LOGIN}.${action}`),
};

/**
 * Rows, links and settings of Strapi's plugins, which an import into Strapi replaces: locales, roles and their rights.
 */
export function exportedPlugins(facts: PluginFacts): {
  readonly entities: readonly object[];
  readonly links: readonly object[];
  readonly configuration: readonly object[];
} {
  const row = (type: string, id: number, data: object) => ({
    type,
    id,
    data: { documentId: derivedDocumentId(type, String(id)), ...data, ...timesOf(facts.at), locale: null },
  });
  const names = new Intl.DisplayNames(['en'], { type: 'language' });
  const others = [...facts.locales].filter((code) => code !== facts.defaultLocale).sort();
  const locales = [facts.defaultLocale, ...others].map((code, at) =>
    row(LOCALE_TYPE, at + 1, { code, name: `${names.of(code)} (${code})` }),
  );
  const roles = rolesOf(facts);
  const permissions = permissionsOf(facts.publicRights);
  const role = (type: string, ref: number, of: number, field: string, pos: number) => ({
    kind: 'relation.basic',
    relation: 'manyToOne',
    left: { type, field: 'role', ref },
    right: { type: ROLE_TYPE, field, ref: of, pos },
  });
  return {
    entities: [
      ...locales,
      ...roles.map(({ id, ...data }) => row(ROLE_TYPE, id, data)),
      ...permissions.map(({ action }, at) => row(PERMISSION_TYPE, at + 1, { action })),
    ],
    links: [
      ...permissions.map((each, at) => role(PERMISSION_TYPE, at + 1, each.role, 'permissions', at + 1)),
      ...[...facts.roles].map(([user, of], at) => role(USER_TYPE, user, of, 'users', at + 1)),
    ],
    configuration: [setting('plugin_i18n_default_locale', facts.defaultLocale)],
  };
}

function timesOf(at: string) {
  return { createdAt: at, updatedAt: at, publishedAt: at };
}

function setting(key: string, value: string): object {
  return { type: 'core-store', value: { key, value, type: 'string', environment: null, tag: null } };
}

function rolesOf({ roles }: PluginFacts) {
  const own = [
    { id: USER_ROLES.authenticated, name: 'Authenticated', type: 'authenticated' },
    { id: USER_ROLES.public, name: 'Public', type: 'public' },
  ];
  const others = [...new Set(roles.values())].filter((id) => !own.some((role) => role.id === id)).sort();
  const named = others.map((id) => ({ id, name: `Role ${id}`, type: `role-${id}` }));
  return [...own, ...named].map((role) => ({ ...role, description: `${role.name} users` }));
}

function permissionsOf(rights: Rights): readonly { readonly action: string; readonly role: number }[] {
  const given = rights.kind === 'custom' ? [...rights.allowed] : [];
  const isStrapis = (action: string) => /^api::.+\.(find|findOne|create|update|delete)$/.test(action);
  const actions = { ...OWN_RIGHTS, public: [...OWN_RIGHTS.public, ...given.filter(isStrapis)] };
  return (['authenticated', 'public'] as const).flatMap((type) =>
    actions[type].map((action) => ({ action, role: USER_ROLES[type] })),
  );
}
