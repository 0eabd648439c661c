import { NotLeading } from '../command/not-leading.ts';

/** Message of an operation that only a running server can carry out. */
export const NO_SERVER = 'no server runs on the data directory: start it, then run the command again';

/** Message of an operation that only the leader can carry out. */
export const NOT_THE_LEADER =
  'this server is not the leader: run the command on the data directory of the leader';

/** Throws the error of an operation. If the process is not the leader, the error says what to do. */
export function refuseElsewhere(error: unknown): never {
  if (error instanceof NotLeading) throw new Error(NOT_THE_LEADER, { cause: error });
  throw error;
}
