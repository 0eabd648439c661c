import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import { consoleMailer, type SendMail, smtpMailer } from '../../login/mailer.ts';
import type { LoginPlan, PasswordPlan } from '../../login/open-login.ts';
import { InvalidSettings, type ServeSettings } from '../settings/settings.ts';

/** RFC 7518, section 3.2: as many bits as the hash has. */
const SECRET_BYTES = 32;

/** Reads the settings of the login; undefined: nobody signs in. Throws InvalidSettings. */
export function readLoginPlan(settings: ServeSettings, logger: Logger): LoginPlan | undefined {
  refuseIncomplete(settings);
  const { login, jwks, jwksAudience } = settings;
  if (!login && jwks === undefined) return undefined;
  return {
    passwords: login ? passwordPlan(settings, logger) : undefined,
    provider:
      jwks === undefined || jwksAudience === undefined
        ? undefined
        : {
            keys: jwks,
            audience: jwksAudience,
            issuer: settings.jwksIssuer,
            roleClaim: settings.jwksRoleClaim,
            roles: settings.jwksRoles,
          },
  };
}

function refuseIncomplete({
  jwks,
  jwksAudience,
  login,
  mail,
  mailFrom,
  rehash,
  jwtSecretFile,
  follow,
}: ServeSettings): void {
  const problems = [
    ...(jwks !== undefined && jwksAudience === undefined
      ? [
          '--jwks-audience is missing: without it Varve would accept tokens that were issued for other services',
        ]
      : []),
    ...(mail !== undefined && mail !== 'console' && mailFrom === undefined
      ? ['--mail-from is missing: pass the sender of mails']
      : []),
    ...(login && follow !== undefined
      ? ['--login cannot be used with --follow: users sign in at the Strapi that Varve follows']
      : []),
    ...(!login && (rehash !== undefined || jwtSecretFile !== undefined || mail !== undefined)
      ? ['--login is missing: --rehash, --jwt-secret-file and --mail have no effect without it']
      : []),
  ];
  if (problems.length > 0) throw new InvalidSettings(problems.map((problem) => `  ${problem}`).join('\n'));
}

function passwordPlan(settings: ServeSettings, logger: Logger): PasswordPlan {
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

function mailerOf({ mail, mailFrom = '' }: ServeSettings, showMail: SendMail): SendMail | undefined {
  if (mail === undefined) return undefined;
  return mail === 'console' ? showMail : smtpMailer(mail, mailFrom);
}

function readSecret(file: string | undefined, logger: Logger): Uint8Array | undefined {
  if (file === undefined) return undefined;
  const secret = Buffer.from(readSecretText(file));
  if (secret.length === 0) throw new InvalidSettings(`  --jwt-secret-file "${file}" is empty`);
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
    throw new InvalidSettings(`  --jwt-secret-file "${file}" cannot be read: ${(error as Error).message}`);
  }
}
