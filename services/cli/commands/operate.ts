import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { DataDirectoryInUse, readDirectoryHolder } from '../../../shared/sqlite/lock-data-directory.ts';
import { ServerGone, ServerSilent } from '../../operator/call-operator.ts';
import { openLooks, openOperations } from '../../operator/open-operations.ts';
import type { Looks, Operations } from '../../operator/operations.ts';
import { isFound, noDataDirectory, requireLog } from '../settings/access-log.ts';
import type { OperatorSettings } from '../settings/settings.ts';

/** Runs `use` on the data directory in the settings: through its server, or here. Throws a message if there is no such directory. */
export async function withOperations<Result>(
  settings: OperatorSettings,
  use: (operations: Operations) => Promise<Result>,
): Promise<Result> {
  requireDataDirectory(settings);
  const operations = await openOperations(settings.data, async () => {
    // Loading this code takes half of a command's time; most servers have it loaded.
    const { openHere } = await import('./open-here.ts');
    return openHere(settings);
  });
  try {
    return await use(operations);
  } finally {
    await operations.close();
  }
}

/** Runs `use`, which changes nothing, on the data directory in the settings. Throws a message if there is no such directory. */
export async function lookAt<Result>(
  settings: OperatorSettings,
  use: (looks: Looks) => Promise<Result>,
): Promise<Result> {
  requireDataDirectory(settings);
  const looks = await openLooks(settings.data, async () => {
    const { lookHere } = await import('./look-here.ts');
    return lookHere(settings);
  });
  try {
    return await use(looks);
  } finally {
    await looks.close();
  }
}

const ATTEMPTS = 600;
const PAUSE_MS = 100;

/**
 * Runs `use` like `withOperations`, and repeats it if the server ends during it. A server that is stopping accepts no requests and still
 * has the directory: this waits up to a minute for its end, or for that of another command.
 */
export async function awaitOperations<Result>(
  settings: OperatorSettings,
  use: (operations: Operations) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await withOperations(settings, use);
    } catch (error) {
      const isGone = error instanceof ServerGone && !(error instanceof ServerSilent);
      if (!isGone && !(error instanceof DataDirectoryInUse)) throw error;
      if (attempt === ATTEMPTS) throw isGone ? stillEnding(settings.data, error) : error;
    }
    await delay(PAUSE_MS);
  }
}

function stillEnding(data: string, cause: ServerGone): ServerGone {
  const pid = readDirectoryHolder(data)?.pid;
  return new ServerGone(
    `the server of the data directory${pid === undefined ? '' : `, process ${pid},`} has answered no request for a minute and has not ended: end it with kill -9, then run this command again`,
    { cause },
  );
}

/** Throws a message if there is no data directory or no log: a typing error must not create one. */
export function requireDataDirectory(settings: OperatorSettings): void {
  const { data } = settings;
  if (!isFound(data)) throw noDataDirectory(data);
  requireLog(settings);
}

/**
 * `varve rollback`: resolves when the previous generation serves again. If the worker that was asked ends before its answer, the next one is
 * asked whether it serves that generation.
 */
export async function rollback(settings: OperatorSettings): Promise<void> {
  const request = { id: randomUUID() };
  await awaitOperations(settings, async (operations) => {
    for await (const { number } of operations.run('rollback', request)) {
      console.log(`generation ${number} is live; varve rollback switches back again`);
    }
  });
}

/** `varve drop`: resolves after all kept generations are removed. */
export async function drop(settings: OperatorSettings): Promise<void> {
  await withOperations(settings, async (operations) => {
    let count = 0;
    for await (const dropped of operations.run('drop', {})) {
      if ('index' in dropped) console.log(`the index ${dropped.index} of another data directory is removed`);
      else console.log(`generation ${dropped.number} is removed`);
      count++;
    }
    if (count === 0) console.log('no generation is kept');
  });
}
