import { NotLeading } from '../command/not-leading.ts';
import type { ApiWrites } from '../http/served-api.ts';

async function refuse(): Promise<never> {
  throw new NotLeading();
}

/** Write side of a process without one: its requests go to the leader before they come here. */
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
