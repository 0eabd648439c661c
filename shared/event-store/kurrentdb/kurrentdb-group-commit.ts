import type { AppendResult } from '../event-store.ts';
import type { GroupResults } from './kurrentdb-append-records.ts';
import { bytesOf, type ExactAppend, isLarge } from './kurrentdb-batch-append.ts';
import { isPassing } from './kurrentdb-retry.ts';

/** Maximum records and bytes of a group. No server refuses a message of this size by default. */
const GROUP_RECORDS = 512;
const GROUP_BYTES = 1024 * 1024;

type Waiting = Omit<PromiseWithResolvers<AppendResult>, 'promise'> & { readonly append: ExactAppend };

/**
 * Creates the queue of appends. It makes one call at a time, and all appends that wait go out together with the next one. `send` stores
 * all appends of a group or none. Its answer names the appends that are in conflict; the others go out again at once. A large append has
 * a call of its own, so that no other waits for it.
 */
export function createGroupCommit(send: (group: readonly ExactAppend[]) => Promise<GroupResults>) {
  const waiting: Waiting[] = [];
  let isSending = false;

  const sendGroup = async (group: readonly Waiting[]): Promise<void> => {
    try {
      const results = await send(group.map(({ append }) => append));
      for (const [n, { resolve }] of group.entries()) if (results[n] !== undefined) resolve(results[n]);
      waiting.unshift(...group.filter((_, n) => results[n] === undefined));
    } catch (error) {
      // A permanent refusal may be that of one append only.
      if (group.length > 1 && !isPassing(error)) await Promise.all(group.map((each) => sendGroup([each])));
      else for (const { reject } of group) reject(error);
    }
  };
  const sendWaiting = async (): Promise<void> => {
    isSending = true;
    while (waiting.length > 0) {
      const length = groupLength(waiting.map((each) => each.append));
      await sendGroup(waiting.splice(0, length));
    }
    isSending = false;
  };
  return (append: ExactAppend): Promise<AppendResult> => {
    const { promise, resolve, reject } = Promise.withResolvers<AppendResult>();
    const each = { append, resolve, reject };
    const isAlone = isLarge(append);
    if (!isAlone) waiting.push(each);
    // Never rejects: `sendGroup` gives failures to the appends.
    if (isAlone) void sendGroup([each]);
    // Never rejects: `sendGroup` gives failures to the appends.
    else if (!isSending) void sendWaiting();
    return promise;
  };
}

/** Returns the number of first appends that one call can have: with one condition, and within its limits. */
export function groupLength(appends: readonly ExactAppend[]): number {
  const [first] = appends;
  let records = 0;
  let bytes = 0;
  const end = appends.findIndex((append, n) => {
    records += append.events.length;
    bytes += bytesOf(append.events);
    return n > 0 && (!sameCondition(append, first) || records > GROUP_RECORDS || bytes > GROUP_BYTES);
  });
  return end === -1 ? appends.length : end;
}

function sameCondition({ condition: one }: ExactAppend, other: ExactAppend | undefined): boolean {
  return one?.stream === other?.condition?.stream && one?.revision === other?.condition?.revision;
}
