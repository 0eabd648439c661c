import type { RouteOptions } from 'fastify';

const WRITING = ['POST', 'PUT', 'DELETE'];

/** Path of a GET that writes, because mails link to it. */
export const CONFIRMATION_PATH = '/api/auth/email-confirmation';

/** Returns whether a route may write. A route for several methods does not: it refuses those that its path does not serve. */
export function isWriting({ method, url }: RouteOptions): boolean {
  if (typeof method !== 'string') return false;
  return WRITING.includes(method) || (method === 'GET' && url === CONFIRMATION_PATH);
}
