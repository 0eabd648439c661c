import { z } from 'zod';
import { commaList } from '../../../shared/comma-list.ts';
import { durationMs } from '../../../shared/duration.ts';
import { choice, file, httpAddress, type SettingsTable, wholeNumber, yesOrNo } from './setting.ts';

const lifetime = z
  .string()
  .regex(/^\d{1,6}[smhdw]$/, 'must be a duration such as 30d or 12h')
  .transform((text) => durationMs(text) / 1_000)
  .refine((seconds) => seconds > 0 && seconds <= 315_360_000, 'must be a duration between 1s and 10 years');

const names = z.string().transform(commaList);

const pairs = names.refine(
  (list) => list.every((pair) => /^[^=]+=[^=]+$/.test(pair)),
  'must be a list such as editor=author,reader=authenticated',
);

/** Settings of the login. */
export const LOGIN_SETTINGS = {
  login: {
    flags: '--login [boolean]',
    description:
      "let users sign in at /api/auth, as in Strapi's users-permissions plugin; passwords are hashed with bcrypt (default: false)",
    schema: yesOrNo.default(false),
  },
  jwtSecretFile: {
    flags: '--jwt-secret-file <file>',
    description:
      'file with the secret that signs JWTs. With the JWT_SECRET of a Strapi, the JWTs of that Strapi stay valid (default: 256 bits derived from the access key)',
    schema: file.optional(),
  },
  jwtExpires: {
    flags: '--jwt-expires <duration>',
    description: 'lifetime of a JWT, such as 12h (default: 30d)',
    schema: lifetime.default(durationMs('30d') / 1_000),
  },
  jwtManagement: {
    flags: '--jwt-management <mode>',
    description:
      'legacy-support: a JWT is valid for --jwt-expires; refresh: a JWT is valid for ten minutes, and /api/auth/refresh renews it, as in Strapi (default: legacy-support)',
    schema: choice('legacy-support', 'refresh').default('legacy-support'),
  },
  loginRateLimit: {
    flags: '--login-rate-limit <number>',
    description:
      'maximum number of requests per minute from one address to each path of the login; 0: no limit (default: 10)',
    schema: wholeNumber(0, 1_000_000).default(10),
  },
  registerFields: {
    flags: '--register-fields <attributes>',
    description:
      'attributes that a registration may set in addition to username, email and password, such as phone (default: none)',
    schema: names.default([]),
  },
  rehash: {
    flags: '--rehash <scheme>',
    description:
      'argon2: hash passwords with Argon2id, and replace a bcrypt hash when its user signs in. Such users cannot sign in to a Strapi again (default: none)',
    schema: z.literal('argon2', { error: 'must be argon2' }).optional(),
  },
  publicUrl: {
    flags: '--public-url <url>',
    description:
      'URL at which people reach this server, for links in mails (default: the address that it listens on)',
    schema: httpAddress.transform((url) => url.replace(/\/+$/, '')).optional(),
  },
  mail: {
    flags: '--mail <address>',
    description:
      'mail server, as smtp://user:password@host:port or smtps:, or console to print mails. Prefer the variable (default: console in development mode, else none)',
    schema: z
      .union([z.literal('console'), z.url({ protocol: /^smtps?$/ })], {
        error: 'must be console, or an smtp or smtps address',
      })
      .optional(),
  },
  mailFrom: {
    flags: '--mail-from <address>',
    description: 'sender of mails, such as Cookbook <no-reply@example.com>',
    schema: z
      .string()
      .regex(/^[^\r\n]+@[^\r\n]+$/, 'must be a mail address')
      .optional(),
  },
} as const satisfies SettingsTable;

/** Settings for the tokens of an identity provider. */
export const PROVIDER_SETTINGS = {
  jwks: {
    flags: '--jwks <url>',
    description:
      'URL of the keys (JSON Web Key Set) of an identity provider whose tokens are accepted; requires --jwks-audience',
    schema: httpAddress.optional(),
  },
  jwksAudience: {
    flags: '--jwks-audience <text>',
    description: 'audience (aud) that tokens of the identity provider must have',
    schema: z.string().min(1, 'is empty').optional(),
  },
  jwksIssuer: {
    flags: '--jwks-issuer <text>',
    description: 'issuer (iss) that tokens of the identity provider must have (default: any)',
    schema: z.string().min(1, 'is empty').optional(),
  },
  jwksRoleClaim: {
    flags: '--jwks-role-claim <path>',
    description: 'claim of these tokens that names roles, such as realm_access.roles (default: roles)',
    schema: z.string().min(1, 'is empty').default('roles'),
  },
  jwksRoles: {
    flags: '--jwks-roles <pairs>',
    description:
      'roles for the values of --jwks-role-claim, such as editor=author (default: roles of the same name)',
    schema: pairs
      .transform((list) => new Map(list.map((pair) => pair.split('=') as [string, string])))
      .default(new Map()),
  },
} as const satisfies SettingsTable;
