import { BCRYPT_BYTES } from './password-hashes.ts';
import { type BodyProblem, problemsError } from './problem.ts';

/** A password must not have bytes that bcrypt would ignore. */
export function longPasswordProblem(password: string): BodyProblem | undefined {
  if (Buffer.byteLength(password) <= BCRYPT_BYTES) return undefined;
  const message = `Password must be less than ${BCRYPT_BYTES + 1} bytes`;
  return { path: 'password', message, value: password };
}

/** Throws RequestError (400). */
export function refuseLongPassword(password: string): void {
  const problem = longPasswordProblem(password);
  if (problem !== undefined) throw problemsError([problem]);
}
