import { BCRYPT_BYTES } from './password-hashes.ts';
import { type BodyProblem, problemsError } from './problem.ts';

/** Returns the problem of a password with bytes that bcrypt would ignore; undefined for other passwords. */
export function longPasswordProblem(password: string): BodyProblem | undefined {
  if (Buffer.byteLength(password) <= BCRYPT_BYTES) return undefined;
  const message = `Password must be less than ${BCRYPT_BYTES + 1} bytes`;
  return { path: 'password', message, value: password };
}

/** Throws RequestError (400) for a password with bytes that bcrypt would ignore. */
export function refuseLongPassword(password: string): void {
  const problem = longPasswordProblem(password);
  if (problem !== undefined) throw problemsError([problem]);
}
