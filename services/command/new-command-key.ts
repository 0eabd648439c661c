import * as crypto from 'node:crypto';

/** Returns a text that no other command has: a UUID that is ordered by time, if Node can make one (from 26 on). */
export const newCommandKey: () => string = crypto.randomUUIDv7 ?? crypto.randomUUID;
