import { createBounded } from '../../shared/bounded.ts';
import { RequestError } from '../../shared/request-error.ts';
import { currentCaller } from './current-caller.ts';
import { argon2, bcrypt } from './password-libraries.ts';

/** Scheme of the hash of a password. Strapi supports only bcrypt. */
export type PasswordScheme = 'argon2' | 'bcrypt';

/** bcrypt ignores all further bytes. */
export const BCRYPT_BYTES = 72;
/** The cost that Strapi uses. */
const COST = 10;
const AT_ONCE = 2;
const MOST_WAITING = 200;

const BCRYPT = /^\$2[aby]\$/;
/** PHP's name for `$2b$`. */
const OTHER_NAME = /^\$2y\$/;
const ARGON2 = /^\$argon2(id|i|d)\$/;

/** The libraries work on the same threads as file reads, so some threads stay free. */
const bounded = createBounded(AT_ONCE, {
  waiting: MOST_WAITING,
  refused: () => new RequestError('busy', 'Too many passwords are being checked, try again'),
});

/** Hashes with Argon2id (19 MiB, two passes, as in its library) or with bcrypt at Strapi's cost, off the main thread. */
export function hashPassword(password: string, scheme: PasswordScheme): Promise<string> {
  return bounded(
    async () =>
      scheme === 'argon2' ? (await argon2()).hash(password) : (await bcrypt()).hash(password, COST),
    currentCaller(),
  );
}

/** Returns the scheme that made a hash; undefined for any other text. PHP's `$2y$` is bcrypt. */
export function schemeOf(hash: string): PasswordScheme | undefined {
  if (BCRYPT.test(hash)) return 'bcrypt';
  return ARGON2.test(hash) ? 'argon2' : undefined;
}

/**
 * Returns whether a password belongs to a hash. It always takes the time of one check with each scheme, for any hash and without one. So
 * the time reveals nothing about the user.
 */
export function isPassword(password: string, hash: string | undefined): Promise<boolean> {
  return bounded(async () => {
    const scheme = hash === undefined ? undefined : schemeOf(hash);
    const others = await decoys();
    const ofBcrypt = await (await bcrypt()).compare(
      password,
      scheme === 'bcrypt' ? String(hash).replace(OTHER_NAME, '$2b$') : others.bcrypt,
    );
    const ofArgon2 = await (await argon2()).verify(
      scheme === 'argon2' ? String(hash) : others.argon2,
      password,
    );
    return (scheme === 'bcrypt' && ofBcrypt) || (scheme === 'argon2' && ofArgon2);
  }, currentCaller());
}

let made: Promise<Readonly<Record<PasswordScheme, string>>> | undefined;

/** Returns hashes of passwords that nobody has. */
function decoys(): Promise<Readonly<Record<PasswordScheme, string>>> {
  made ??= (async () => {
    const nothing = crypto.randomUUID();
    const ofBcrypt = await (await bcrypt()).hash(nothing, COST);
    return { bcrypt: ofBcrypt, argon2: await (await argon2()).hash(nothing) };
  })();
  return made;
}
