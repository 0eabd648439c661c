/** Header with the secret of the lock file. Not `Authorization`: it is not a token. */
export const SECRET_HEADER = 'x-varve-operator';

/** Last line of an answer. An answer without it is incomplete. */
type Ending =
  | { readonly done: true }
  | { readonly failed: string }
  /** The server ends, or another worker takes its place: the command can be sent again. */
  | { readonly stopping: string };
export type AnswerLine = { readonly line: unknown } | Ending;
