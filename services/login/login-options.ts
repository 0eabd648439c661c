import type { AccessState } from '../../shared/access/access-state.ts';
import type { CommandHandler } from '../command/command-handler.ts';
import type { PasswordScheme } from '../command/password-hashes.ts';
import type { Jwts } from './jwt.ts';
import type { SendMail } from './mailer.ts';
import type { People } from './people.ts';

export type LoginOptions = {
  readonly people: People;
  readonly commands: CommandHandler;
  readonly access: () => AccessState;
  readonly jwts: Jwts;
  readonly scheme: PasswordScheme;
  /** Returns a user as `GET /api/users/me` without a query does; undefined if the user is not readable yet. */
  readonly present: (user: number) => Promise<unknown>;
  /** Returns the function that sends mails; undefined if mails cannot be sent. */
  readonly mail: () => SendMail | undefined;
  /** Returns the address of this server for links. */
  readonly url: () => string;
  /** Further attributes that a registration may have. */
  readonly registerFields: readonly string[];
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Called with the error of a mail that the server did not accept. */
  readonly mailFailed: (error: unknown) => void;
  /** Runs work that nobody waits for. */
  readonly later: (work: () => Promise<void>) => void;
};

/** Answer to a login request. `position` is the position of its write in the log. */
export type LoginAnswer = {
  readonly status: number;
  readonly body: unknown;
  readonly location?: string;
  readonly position?: bigint;
};
