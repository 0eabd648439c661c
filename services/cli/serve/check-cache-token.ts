import type { Logger } from 'pino';
import type { CacheToken } from '../../access/cache-token.ts';

/**
 * Refuses a start if the token sees more than callers without a token. But a worker that replaces another one starts with private answers,
 * because a token that was revoked meanwhile must not stop the server.
 */
export function checkCacheToken(token: CacheToken | undefined, logger: Logger, refuses: boolean): void {
  const problem = token?.problem();
  if (problem === undefined) return;
  if (refuses) throw new Error(`--cache-token (VARVE_CACHE_TOKEN) cannot be used: ${problem}`);
  logger.warn(`answers to --cache-token are private: ${problem}`);
}
