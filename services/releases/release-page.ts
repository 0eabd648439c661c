import * as z from 'zod';
import type { Release } from '../../shared/releases/release-state.ts';
import { RequestError } from '../../shared/request-error.ts';
import type { ResourceRequest } from '../../shared/resource.ts';
import type { OpenedReleases, ServedReleases } from './open-releases.ts';
import { noRelease, refusedRelease } from './release-error.ts';

/** Path of releases. */
export const RELEASES_PATH = '/_varve/releases';
const PAGE_SIZE = 25;
const MOST_ON_PAGE = 100;

/** Parameters of a list, for the description of the API. */
export const PAGE = {
  page: z.int().min(1).default(1).describe('From 1 on.'),
  pageSize: z.int().min(1).max(MOST_ON_PAGE).default(PAGE_SIZE),
};

/** Releases of a process that knows the content. Throws RequestError (400) in one that does not. */
export function openedReleases({ opened }: ServedReleases): OpenedReleases {
  if (opened !== undefined) return opened;
  throw new RequestError('not-supported', 'This process does not know releases: ask the leader', {
    accepted: "nothing: 'varve api' has no content graph; ask 'varve project' or 'varve serve'",
  });
}

/** Returns a page of rows, and Strapi's description of it. Throws RequestError (400) for parameters that are not numbers. */
export function pageOf<Row>(rows: readonly Row[], query: URLSearchParams) {
  const page = numberOf(query, 'page', 1, Number.MAX_SAFE_INTEGER);
  const pageSize = numberOf(query, 'pageSize', PAGE_SIZE, MOST_ON_PAGE);
  const start = (page - 1) * pageSize;
  const pagination = { page, pageSize, pageCount: Math.ceil(rows.length / pageSize), total: rows.length };
  return { rows: rows.slice(start, start + pageSize), pagination };
}

function numberOf(query: URLSearchParams, path: string, usual: number, most: number): number {
  const text = query.get(path);
  if (text === null) return usual;
  if (/^[1-9]\d{0,8}$/.test(text) && Number(text) <= most) return Number(text);
  throw refusedRelease([{ path, message: `must be a number from 1 to ${most}, got "${text}"` }]);
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
