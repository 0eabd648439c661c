import type { AccessControl } from '../access/access-control.ts';
import type { CacheToken } from '../access/cache-token.ts';
import type { ServedApi } from '../http/served-api.ts';

/** Names everything besides content that shapes the answers which caches may share. */
export function shapeOfShared(
  apiFor: ServedApi['apiFor'],
  access: Pick<AccessControl, 'authenticate'>,
  cacheToken: CacheToken | undefined,
): string {
  const callers = [access.authenticate(undefined), cacheToken?.rights()];
  return callers
    .filter((rights) => rights !== undefined)
    .map((rights) => apiFor(rights).delivery.generation)
    .join(' ');
}
