import { randomUUID } from 'node:crypto';
import { AppendTooLarge } from '../event-store.ts';
import type { Connection } from './kurrentdb-connection.ts';
import { readEndOfLog } from './kurrentdb-pages.ts';
import { explained, isPassing, retrying } from './kurrentdb-retry.ts';
import { NEVER, sendInBatch } from './kurrentdb-write.ts';

/** EventStoreDB 22.10 is the first version whose stream reads return positions. */
const OLDEST = [22, 10] as const;
/** Bytes of the append that is tried: more than the default limit of servers up to 25.0. */
const TRIED_BYTES = 1_048_576 + 1_024;

/**
 * Checks a server, with a separate message for each check. It checks that the server is reachable, TLS, user and password, version, append
 * to the namespace, limit of an append, and read on `$all`. It tries an append that expects a revision which no stream has, so it writes
 * nothing. Resolves to messages for operators. Rejects with one if the server cannot be reached, is too old or cannot be read.
 */
export async function checkServer(connection: Connection): Promise<readonly string[]> {
  const { retryLimits, writer } = connection;
  const { version } = await retrying('the request for the version', retryLimits, () => writer.features());
  if (isTooOld(version)) {
    throw new Error(
      `${connection.address.shown} runs version ${version}: Varve needs KurrentDB, or EventStoreDB 22.10 or later`,
    );
  }
  const found = await tryAppend(connection);
  await readEndOfLog(connection);
  return [`version ${version}`, ...found];
}

function isTooOld(version: string): boolean {
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(version) ?? [];
  if (major === undefined) return false;
  return Number(major) < OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) < OLDEST[1]);
}

/** Returns messages that say why the user may not append to the namespace, or why an append of this size is refused. */
async function tryAppend(connection: Connection): Promise<readonly string[]> {
  const operation = 'append to the space';
  const attempt = async () => {
    try {
      const stream = `${connection.prefix}server-check`;
      await sendInBatch(connection, { stream, expected: NEVER, events: [largeEvent()] });
    } catch (error) {
      if (error instanceof AppendTooLarge) return error.limit;
      throw error;
    }
    return undefined;
  };
  try {
    const limit = await retrying(operation, connection.retryLimits, attempt);
    if (limit === undefined) return [];
    return [
      `accepts at most ${limit} bytes in one append: larger entries are refused with 413 (setting MaxAppendSize, see docs/kurrentdb.md)`,
    ];
  } catch (error) {
    if (isPassing(error)) throw error;
    const refusal = (await explained(connection.retryLimits, operation, error)) as Error;
    return [refusal.message];
  }
}

function largeEvent() {
  return {
    id: randomUUID(),
    type: 'server-checked',
    data: JSON.stringify('x'.repeat(TRIED_BYTES)),
    metadata: '{}',
    digest: '',
  };
}
