import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import { consoleMailer, type SendMail, smtpMailer } from '../../login/mailer.ts';
import type { LoginPlan, PasswordPlan } from '../../login/open-login.ts';
import { InvalidSettings, type ServeSettings } from '../settings/settings.ts';

/** Minimum size of a JWT secret by RFC 7518, section 3.2: that of the hash. */
const SECRET_BYTES = 32;

/** Reads the settings of the login; undefined if no users sign in. Throws InvalidSettings. */
export function readLoginPlan(settings: ServeSettings, logger: Logger): LoginPlan | undefined {
  refuseIncomplete(settings);
  const { login } = settings.login;
  if (!login && settings.access.jwks === undefined) return undefined;
  return {
    passwords: login ? passwordPlan(settings.login, logger) : undefined,
    provider: providerPlan(settings.access),
  };
}

function providerPlan(settings: ServeSettings['access']): LoginPlan['provider'] {
  const { jwks: keys, jwksAudience: audience } = settings;
  const { jwksIssuer: issuer, jwksRoleClaim: roleClaim, jwksRoles: roles } = settings;
  if (keys === undefined || audience === undefined) return undefined;
  return { keys, audience, issuer, roleClaim, roles };
}

function refuseIncomplete({ access, following, login: given }: ServeSettings): void {
  const { jwks, jwksAudience } = access;
  const { login, mail, mailFrom, rehash, jwtSecretFile } = given;
  const problems: string[] = [];
  if (jwks !== undefined && jwksAudience === undefined)
    problems.push(
      '--jwks-audience is missing: without it Varve would accept tokens that were issued for other services',
    );
  if (mail !== undefined && mail !== 'console' && mailFrom === undefined)
    problems.push('--mail-from is missing: pass the sender of mails');
  if (login && following.follow !== undefined)
    problems.push('--login cannot be used with --follow: users sign in at the Strapi that Varve follows');
  if (!login && (rehash !== undefined || jwtSecretFile !== undefined || mail !== undefined))
    problems.push('--login is missing: --rehash, --jwt-secret-file and --mail have no effect without it');
  if (problems.length > 0) throw new InvalidSettings(...problems);
}

function passwordPlan(settings: ServeSettings['login'], logger: Logger): PasswordPlan {
  const showMail = consoleMailer((text) => console.log(text));
  return {
    secret: readSecret(settings.jwtSecretFile, logger),
    management: settings.jwtManagement,
    lifetime: settings.jwtExpires,
    scheme: settings.rehash ?? 'bcrypt',
    rateLimit: settings.loginRateLimit,
    registerFields: settings.registerFields,
    url: settings.publicUrl,
    mail: mailerOf(settings, showMail),
    showMail,
    mailFailed: (error) => logger.error({ err: error }, 'a mail could not be sent'),
  };
}

function mailerOf({ mail, mailFrom = '' }: ServeSettings['login'], showMail: SendMail): SendMail | undefined {
  if (mail === undefined) return undefined;
  return mail === 'console' ? showMail : smtpMailer(mail, mailFrom);
}

function readSecret(file: string | undefined, logger: Logger): Uint8Array | undefined {
  if (file === undefined) return undefined;
  const secret = Buffer.from(readSecretText(file));
  if (secret.length === 0) throw new InvalidSettings(`--jwt-secret-file "${file}" is empty`);
  if (secret.length < SECRET_BYTES)
    logger.warn(
      { bytes: secret.length },
      `the JWT secret has fewer than ${SECRET_BYTES} bytes: replace it when Strapi's JWTs are no longer needed`,
    );
  return secret;
}

function readSecretText(file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw new InvalidSettings(`--jwt-secret-file "${file}" cannot be read: ${(error as Error).message}`);
  }
}
