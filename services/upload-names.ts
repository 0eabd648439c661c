import { createHmac } from 'node:crypto';

/**
 * Names under which uploaded content is served: the same for the same content, in every process that has the access key. Who has a file
 * cannot work its name out, and so cannot ask whether it is stored.
 */
export function uploadNames(accessKey: Buffer): (hash: string) => string {
  return (hash) => createHmac('sha256', accessKey).update(`uploaded file ${hash}`).digest('hex');
}
