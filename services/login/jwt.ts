import { jwtVerify, SignJWT } from 'jose';

/** Strapi's modes: `legacy-support` gives one long-lived JWT, `refresh` gives short-lived ones and refresh tokens. */
export type JwtManagement = 'legacy-support' | 'refresh';

export type JwtOptions = {
  readonly secret: Uint8Array;
  readonly management: JwtManagement;
  /** Lifetime of a JWT in seconds if `management` is `legacy-support`. */
  readonly lifetime: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
};

/** Claims of a valid JWT of this secret. */
export type JwtClaims = {
  readonly userId: number;
  /** True if Varve made the JWT, and not Strapi with the same secret. */
  readonly isOwn: boolean;
  /** Time in milliseconds at which the user's password had been stored; undefined if Varve had not stored one. */
  readonly passwordAt: number | undefined;
  readonly use: 'legacy' | 'access' | 'refresh';
  readonly session: string | undefined;
  /** Number of the refresh token in its session. */
  readonly turn: number;
  /** Time in milliseconds at which the JWT expires. */
  readonly expires: number | undefined;
};

export type Jwts = {
  readonly management: JwtManagement;
  /** Makes a JWT for a user. */
  issue(user: number, passwordAt: number | undefined, session?: string): Promise<string>;
  issueRefresh(user: number, session: string, turn: number): Promise<string>;
  /** Returns the claims of a JWT; undefined if it is not valid. */
  read(text: string): Promise<JwtClaims | undefined>;
};

const ISSUER = 'varve';
/** Strapi's lifetime of a JWT in refresh mode, in seconds. */
const ACCESS_LIFETIME = 10 * 60;
const REFRESH_LIFETIME = 14 * 86_400;
export const SESSION_LIFETIME = 30 * 86_400;

const ALGORITHM = 'HS256';

/** Makes and reads JWTs in Strapi's form, with additional claims of Varve. */
export function createJwts({ secret, management, lifetime, now }: JwtOptions): Jwts {
  const sign = (payload: Readonly<Record<string, unknown>>, seconds: number) => {
    const at = Math.floor(now() / 1000);
    return new SignJWT({ ...payload })
      .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
      .setIssuer(ISSUER)
      .setIssuedAt(at)
      .setExpirationTime(at + seconds)
      .sign(secret);
  };
  return {
    management,
    issue(user, passwordAt, sessionId) {
      const own = passwordAt === undefined ? {} : { pwd: passwordAt };
      if (sessionId === undefined) return sign({ id: user, ...own }, lifetime);
      return sign({ userId: String(user), sessionId, type: 'access', ...own }, ACCESS_LIFETIME);
    },
    issueRefresh: (user, sessionId, turn) =>
      sign({ userId: String(user), sessionId, type: 'refresh', turn }, REFRESH_LIFETIME),
    async read(text) {
      const options = { algorithms: [ALGORITHM], currentDate: new Date(now()) };
      const verified = await jwtVerify(text, secret, options).catch(() => undefined);
      return verified === undefined ? undefined : claimsOf(verified.payload);
    },
  };
}

function claimsOf(payload: Readonly<Record<string, unknown>>): JwtClaims | undefined {
  const { id, userId, type: use = 'legacy', sessionId, turn, pwd, iss, exp } = payload;
  if (use !== 'legacy' && use !== 'access' && use !== 'refresh') return undefined;
  const user = Number(use === 'legacy' ? id : userId);
  if (!Number.isSafeInteger(user) || user < 1) return undefined;
  return {
    userId: user,
    use,
    isOwn: iss === ISSUER,
    passwordAt: typeof pwd === 'number' ? pwd : undefined,
    session: typeof sessionId === 'string' ? sessionId : undefined,
    turn: typeof turn === 'number' ? turn : 0,
    expires: typeof exp === 'number' ? exp * 1000 : undefined,
  };
}
