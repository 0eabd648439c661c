import type { Rights } from '../../shared/access/rights.ts';
import type { Login } from './login.ts';
import type { JwtDecision, SignedIn } from './signed-in.ts';

/** The login as the HTTP API uses it. */
export type LoginApi = {
  /** Decides who sends a JWT. */
  check(jwt: string): Promise<JwtDecision>;
  /** Requests of the login that a caller may make. */
  actionsOf(who: SignedIn | undefined, rights: Rights): ReadonlySet<string>;
  /** Undefined: people sign in elsewhere. */
  readonly login: Login | undefined;
  /** Attempts a minute; 0: any number. */
  readonly rateLimit: number;
};
