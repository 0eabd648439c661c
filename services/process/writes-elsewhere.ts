import { NotLeading } from '../command/not-leading.ts';
import type { ApiWrites } from '../http/served-api.ts';

async function refuse(): Promise<never> {
  throw new NotLeading();
}

/** Placeholder for a process without a write side: its writes are forwarded to the leader before they reach this. */
export const WRITES_ELSEWHERE: ApiWrites = {
  commands: { execute: refuse },
  library: {
    add: refuse,
    change: refuse,
    describe: refuse,
    remove: refuse,
    addFormats: refuse,
    keepNamed: refuse,
    forgetNames: refuse,
  },
  userId: () => undefined,
};
