import type { Logger } from 'pino';
import type { CacheToken } from '../../access/cache-token.ts';

/**
 * Refuses a start with a token that sees more than callers without a token. A worker that takes another's place serves on instead, with
 * private answers: a token that was revoked meanwhile must not end the server.
 */
export function checkCacheToken(token: CacheToken | undefined, logger: Logger, refuses: boolean): void {
  const problem = token?.problem();
  if (problem === undefined) return;
  if (refuses) throw new Error(`--cache-token (VARVE_CACHE_TOKEN) cannot be used: ${problem}`);
  logger.warn(`answers to --cache-token are private: ${problem}`);
}
