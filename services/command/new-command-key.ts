import * as crypto from 'node:crypto';

/** A text that no other command has: a UUID in order of time where Node (from 26 on) can make one. */
export const newCommandKey: () => string = crypto.randomUUIDv7 ?? crypto.randomUUID;
