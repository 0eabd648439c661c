import type { Release } from '../../shared/releases/release-state.ts';
import { RequestError } from '../../shared/request-error.ts';
import type { ResourceRequest } from '../../shared/resource.ts';
import type { OpenedReleases, ServedReleases } from './open-releases.ts';
import { noRelease } from './release-error.ts';

/** Path of releases. */
export const RELEASES_PATH = '/_varve/releases';

/** Releases of a process that knows the content. Throws RequestError (400) in one that does not. */
export function openedReleases({ opened }: ServedReleases): OpenedReleases {
  if (opened !== undefined) return opened;
  throw new RequestError('not-supported', 'This process does not know releases: ask the leader', {
    accepted: "nothing: 'varve api' has no content graph; ask 'varve project' or 'varve serve'",
  });
}

/** Returns an id of the path. Throws RequestError (404) for a text that is not an id. */
export function idInPath({ parameter }: ResourceRequest, name = 'id'): number {
  const text = parameter(name);
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw noRelease(name === 'id' ? 'release' : 'action', text);
}

/** Returns the release of the path. Throws RequestError (404). */
export function found(parts: ServedReleases, request: ResourceRequest): Release {
  return openedReleases(parts).commands.find(idInPath(request));
}
