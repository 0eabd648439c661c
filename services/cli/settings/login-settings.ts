import { z } from 'zod';
import { commaList } from '../../../shared/comma-list.ts';
import { type SettingsTable, wholeNumber, yesOrNo } from './setting.ts';

const UNITS = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 } as const;

const lifetime = z
  .string()
  .regex(/^\d{1,6}[smhdw]$/, 'is not a duration such as 30d or 12h')
  .transform((text) => Number(text.slice(0, -1)) * UNITS[text.slice(-1) as keyof typeof UNITS])
  .refine((seconds) => seconds > 0 && seconds <= 315_360_000, 'is not a duration between 1s and 10 years');

const names = z.string().transform(commaList);

const pairs = names.refine(
  (list) => list.every((pair) => /^[^=]+=[^=]+$/.test(pair)),
  'is not a list such as editor=author,reader=authenticated',
);

function httpAddress(what: string) {
  return z.url({ protocol: /^https?$/, error: `is not ${what}` });
}

/** How people sign in. */
export const LOGIN_SETTINGS = {
  login: {
    flags: '--login [boolean]',
    description:
      "let users sign in at /api/auth as Strapi's users-permissions plugin does; their passwords are stored with bcrypt (default: false)",
    schema: yesOrNo.default(false),
  },
  jwtSecretFile: {
    flags: '--jwt-secret-file <file>',
    description:
      'a file with the secret that JWTs are signed with, such as the JWT_SECRET of a Strapi, whose JWTs then stay valid (default: 256 bits made from the access key)',
    schema: z.string().min(1, 'is empty: pass a file').optional(),
  },
  jwtExpires: {
    flags: '--jwt-expires <duration>',
    description: 'lifetime of a JWT, such as 12h (default: 30d)',
    schema: lifetime.default(30 * UNITS.d),
  },
  jwtManagement: {
    flags: '--jwt-management <mode>',
    description:
      'legacy-support: JWTs valid for --jwt-expires; refresh: JWTs of ten minutes, refreshed at /api/auth/refresh, as in Strapi (default: legacy-support)',
    schema: z
      .enum(['legacy-support', 'refresh'], { error: 'is neither legacy-support nor refresh' })
      .default('legacy-support'),
  },
  loginRateLimit: {
    flags: '--login-rate-limit <number>',
    description: 'attempts a minute at each path of the login from one address; 0: any number (default: 10)',
    schema: wholeNumber(0, 1_000_000).default(10),
  },
  registerFields: {
    flags: '--register-fields <attributes>',
    description:
      'attributes of a user that a registration may have as well as name, address and password, such as phone (default: none)',
    schema: names.default([]),
  },
  rehash: {
    flags: '--rehash <scheme>',
    description:
      'argon2: store passwords with Argon2id, those of bcrypt when their user signs in; such users cannot sign in to a Strapi again (default: none)',
    schema: z.literal('argon2', { error: 'is not argon2' }).optional(),
  },
  publicUrl: {
    flags: '--public-url <url>',
    description: 'address of this server for people, for links in mails (default: where it listens)',
    schema: httpAddress('an http or https address')
      .transform((url) => url.replace(/\/+$/, ''))
      .optional(),
  },
  mail: {
    flags: '--mail <address>',
    description:
      'a mail server, smtp://user:password@host:port or smtps:, or console to show mails; better given by the variable (default: console in development mode, else none)',
    schema: z
      .union([z.literal('console'), z.url({ protocol: /^smtps?$/ })], {
        error: 'is neither console nor an smtp or smtps address',
      })
      .optional(),
  },
  mailFrom: {
    flags: '--mail-from <address>',
    description: 'the sender of mails, such as Cookbook <no-reply@example.com>',
    schema: z
      .string()
      .regex(/^[^\r\n]+@[^\r\n]+$/, 'is not an address')
      .optional(),
  },
  jwks: {
    flags: '--jwks <url>',
    description:
      'keys of an identity provider (JSON Web Key Set), whose tokens are accepted; needs --jwks-audience',
    schema: httpAddress('an http or https address').optional(),
  },
  jwksAudience: {
    flags: '--jwks-audience <text>',
    description: 'the audience (aud) that its tokens must have',
    schema: z.string().min(1, 'is empty').optional(),
  },
  jwksIssuer: {
    flags: '--jwks-issuer <text>',
    description: 'the issuer (iss) that its tokens must have (default: any)',
    schema: z.string().min(1, 'is empty').optional(),
  },
  jwksRoleClaim: {
    flags: '--jwks-role-claim <path>',
    description: 'the claim that names roles, such as realm_access.roles (default: roles)',
    schema: z.string().min(1, 'is empty').default('roles'),
  },
  jwksRoles: {
    flags: '--jwks-roles <pairs>',
    description: 'roles for values of that claim, such as editor=author (default: roles of the same name)',
    schema: pairs
      .transform((list) => new Map(list.map((pair) => pair.split('=') as [string, string])))
      .default(new Map()),
  },
} as const satisfies SettingsTable;
