import type { Role } from '../../shared/access/login-state.ts';
import type { Rights } from '../../shared/access/rights.ts';
import type { JwtManagement } from './jwt.ts';
import type { Login } from './login.ts';
import type { JwtDecision, SignedIn } from './signed-in.ts';

/** The login as the HTTP API uses it. */
export type LoginApi = {
  /** Decides who sends a JWT. */
  check(jwt: string): Promise<JwtDecision>;
  /** Requests of the login that a caller may make. */
  actionsOf(who: SignedIn | undefined, rights: Rights): ReadonlySet<string>;
  /** How long JWTs count; undefined: people sign in elsewhere. */
  readonly management: JwtManagement | undefined;
  /** Role of a user; undefined: there is none, or people sign in elsewhere. */
  roleOf(user: number): Role | undefined;
  /** Undefined: people sign in elsewhere. */
  readonly login: Login | undefined;
  /** Attempts a minute; 0: any number. */
  readonly rateLimit: number;
};
