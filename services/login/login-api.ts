import type { Role } from '../../shared/access/login-state.ts';
import type { Rights } from '../../shared/access/rights.ts';
import type { JwtManagement } from './jwt.ts';
import type { Login } from './login.ts';
import type { JwtDecision, SignedIn } from './signed-in.ts';

/** Login for the HTTP API. */
export type LoginApi = {
  /** Returns the sender of a JWT, or the reason why it is refused. */
  check(jwt: string): Promise<JwtDecision>;
  /** Returns the login requests that a caller may make. */
  actionsOf(who: SignedIn | undefined, rights: Rights): ReadonlySet<string>;
  /** Mode of JWTs; undefined if people sign in elsewhere. */
  readonly management: JwtManagement | undefined;
  /** Returns the role of a user; undefined if there is none, or if people sign in elsewhere. */
  roleOf(user: number): Role | undefined;
  /** Login requests; undefined if people sign in elsewhere. */
  readonly login: Login | undefined;
  /** Attempts per minute; 0 for no limit. */
  readonly rateLimit: number;
};
