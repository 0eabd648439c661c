import { randomUUID } from 'node:crypto';
import { WrongExpectedVersionError } from '@kurrent/kurrentdb-client';
import { AppendTooLarge } from '../event-store.ts';
import { callAppend } from './kurrentdb-append.ts';
import type { Connection } from './kurrentdb-connection.ts';
import { explained, isPassing, retrying } from './kurrentdb-retry.ts';

/** Facts that a server reports about itself, and rights of the user. */
export type ServerCheck = {
  /** `unknown` if the server does not report it. */
  readonly version: string;
  /** Bytes of one append; undefined: more than was tried. */
  readonly appendLimit: number | undefined;
  /** Reason why the user may not append to the namespace. */
  readonly refusal: string | undefined;
};

/** EventStoreDB 22.10 is the first version whose stream reads return positions. */
const OLDEST = [22, 10] as const;
/** More than the default limit of servers up to 25.0. */
const TRIED_BYTES = 1_048_576 + 1_024;
/** No stream has so many events, so an append that expects it is never written. */
const NEVER = 2n ** 62n;

/**
 * Asks for the version, and whether and how much the user may append to the namespace. It tries appends that expect a
 * revision which no stream has, so they write nothing. Rejects with a message if the server cannot be reached or is too
 * old.
 */
export async function checkServer(connection: Connection): Promise<ServerCheck> {
  const { retryLimits, writer } = connection;
  const { version } = await retrying('the request for the version', retryLimits, () => writer.features());
  if (isTooOld(version)) {
    throw new Error(
      `${connection.address.shown} runs version ${version}: Varve needs KurrentDB, or EventStoreDB 22.10 or later`,
    );
  }
  return { version, ...(await tryAppend(connection)) };
}

function isTooOld(version: string): boolean {
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(version) ?? [];
  if (major === undefined) return false;
  return Number(major) < OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) < OLDEST[1]);
}

async function tryAppend(connection: Connection): Promise<Pick<ServerCheck, 'appendLimit' | 'refusal'>> {
  const operation = 'append to the space';
  const attempt = async () => {
    try {
      await callAppend(connection, `${connection.prefix}server-check`, [largeEvent()], NEVER);
    } catch (error) {
      if (error instanceof AppendTooLarge) return error.limit;
      if (!(error instanceof WrongExpectedVersionError)) throw error;
    }
    return undefined;
  };
  try {
    const appendLimit = await retrying(operation, connection.retryLimits, attempt);
    return { appendLimit, refusal: undefined };
  } catch (error) {
    if (isPassing(error)) throw error;
    const refusal = (await explained(connection.retryLimits, operation, error)) as Error;
    return { appendLimit: undefined, refusal: refusal.message };
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
