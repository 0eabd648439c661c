import { jwtVerify, SignJWT } from 'jose';

/** `legacy-support`: one JWT for long. `refresh`: short ones, and tokens that give the next one. The words are Strapi's. */
export type JwtManagement = 'legacy-support' | 'refresh';

export type JwtOptions = {
  readonly secret: Uint8Array;
  readonly management: JwtManagement;
  /** Seconds that a JWT counts where `management` is `legacy-support`. */
  readonly lifetime: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
};

/** The claims of a valid JWT of this secret. */
export type JwtClaims = {
  readonly userId: number;
  /** Made by Varve, not by Strapi with the same secret. */
  readonly isOwn: boolean;
  /** When the password was stored that it was given for, in milliseconds; absent: before Varve stored any. */
  readonly passwordAt: number | undefined;
  readonly use: 'legacy' | 'access' | 'refresh';
  readonly session: string | undefined;
  /** Counts the refresh tokens of a session. */
  readonly turn: number;
};

export type Jwts = {
  readonly management: JwtManagement;
  /** A JWT for a user. */
  issue(user: number, passwordAt: number | undefined, session?: string): Promise<string>;
  issueRefresh(user: number, session: string, turn: number): Promise<string>;
  /** Undefined: it is not valid. */
  read(text: string): Promise<JwtClaims | undefined>;
};

const ISSUER = 'varve';
/** Strapi's, in seconds. */
const ACCESS_LIFETIME = 10 * 60;
const REFRESH_LIFETIME = 14 * 86_400;
export const SESSION_LIFETIME = 30 * 86_400;

const ALGORITHM = 'HS256';

/** JWTs as Strapi makes them, and with claims of Varve's own. */
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
  const { id, userId, type, sessionId, turn, pwd, iss } = payload;
  const use = type === undefined ? 'legacy' : type;
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
  };
}
