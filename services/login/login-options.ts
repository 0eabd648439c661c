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
  /** A user as `GET /api/users/me` shows them without a query; undefined: not shown yet. */
  readonly present: (user: number) => Promise<unknown>;
  /** Undefined: mails cannot be sent. */
  readonly mail: () => SendMail | undefined;
  /** The address of this server in links. */
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

/** The answer to a request of the login. `position`: the position of its write in the log. */
export type LoginAnswer = {
  readonly status: number;
  readonly body: unknown;
  readonly location?: string;
  readonly position?: bigint;
};
