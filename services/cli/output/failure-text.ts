import { withAdvice } from '../../../shared/file-problem.ts';
import { isBusy, isDiskFull } from '../../../shared/sqlite/failures.ts';

const LOCKED =
  'another process, such as a shell of SQLite or a paused server, has locked the file for some seconds: end its transaction and try again';

/** Returns the message of an error that ended a command. Errors of the system and of SQLite also say what to do. */
export function failureText(error: Error): string {
  if (isBusy(error)) return `${error.message}: ${LOCKED}`;
  const { message } = withAdvice(error) as Error;
  return isDiskFull(error) && !/free some space/i.test(message) ? `${message}: free some space` : message;
}
