import type { Role } from '../../../shared/access/login-state.ts';
import { parseQueryString, type QueryValue } from '../../query/query-string.ts';

/** Returns whether a query asks for the role of a user, with `populate` in any of its forms. */
export function asksForRole(queryString: string): boolean {
  return queryString.includes('populate') && namesRole(parseQueryString(queryString)['populate']);
}

function namesRole(populate: QueryValue | undefined): boolean {
  if (populate === undefined || populate === null) return false;
  if (typeof populate === 'string')
    return populate.split(',').some((path) => /^(\*|role(\..*)?)$/.test(path.trim()));
  if (Array.isArray(populate)) return populate.some(namesRole);
  return Object.entries(populate).some(([name, value]) =>
    /^\d+$/.test(name) ? namesRole(value) : name === 'role' && value !== 'false',
  );
}

/** Adds the role to a user as its last member, as Strapi does. */
export function withRole(user: Uint8Array, { id, name, description, type }: Role): Uint8Array {
  const role = JSON.stringify({ id, name, description, type });
  return Buffer.concat([user.subarray(0, -1), Buffer.from(`,"role":${role}}`)]);
}
