import * as z from 'zod';
import { RequestError } from './request-error.ts';

const PAGE_SIZE = 25;
const MOST_ON_PAGE = 100;

/** Parameters of a list with pages, for the description of the API. */
export const PAGE = {
  page: z.int().min(1).default(1).describe('From 1 on.'),
  pageSize: z.int().min(1).max(MOST_ON_PAGE).default(PAGE_SIZE),
};

/** Returns a page of rows, and Strapi's description of it. Throws RequestError (400) for parameters that are not numbers. */
export function pageOf<Row>(rows: readonly Row[], query: URLSearchParams) {
  const numberOf = (path: string, usual: number, most: number): number => {
    const text = query.get(path);
    if (text === null) return usual;
    if (/^[1-9]\d{0,8}$/.test(text) && Number(text) <= most) return Number(text);
    const message = `'${path}' must be a number from 1 to ${most}, got "${text}"`;
    throw new RequestError('invalid-pagination', message, { source: 'query', param: path, found: text });
  };
  const page = numberOf('page', 1, Number.MAX_SAFE_INTEGER);
  const pageSize = numberOf('pageSize', PAGE_SIZE, MOST_ON_PAGE);
  const start = (page - 1) * pageSize;
  const pagination = { page, pageSize, pageCount: Math.ceil(rows.length / pageSize), total: rows.length };
  return { rows: rows.slice(start, start + pageSize), pagination };
}
