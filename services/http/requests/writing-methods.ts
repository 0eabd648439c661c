import type { RouteOptions } from 'fastify';

const WRITING = ['POST', 'PUT', 'DELETE'];

/** A GET that writes: mails link to it. */
export const CONFIRMATION_PATH = '/api/auth/email-confirmation';

/** Returns whether requests of a route may write. The other methods of a path are refused wherever they come. */
export function isWriting({ method, url }: RouteOptions): boolean {
  if (typeof method !== 'string') return false;
  return WRITING.includes(method) || (method === 'GET' && url === CONFIRMATION_PATH);
}
