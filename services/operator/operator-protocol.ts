/** Header with the secret of the lock file. Not `Authorization`: it is not a token. */
export const SECRET_HEADER = 'x-varve-operator';

/** A blank that a server sends every second of an answer, before or after a line. JSON permits it there. */
export const SIGN_OF_LIFE = ' ';
export const SIGN_OF_LIFE_MS = 1_000;

/** Last line of an answer. An answer without it is incomplete. */
type Ending =
  | { readonly done: true }
  | { readonly failed: string }
  /** The server ends, or another worker replaces it: the command can be sent again. */
  | { readonly stopping: string };
export type AnswerLine = { readonly line: unknown } | Ending;
