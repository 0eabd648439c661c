import { WORLDS } from '../../../shared/read-index/read-index.ts';
import { openReadSnapshot } from '../../../shared/sqlite/read-snapshot.ts';
import { readGraphPosition } from '../store/graph-position.ts';
import type { DocumentKey } from './stale-rows.ts';

/** Reads the stale documents of a graph that another process has open; undefined if it does not record all of them. */
export function readStaleKeys(file: string): readonly DocumentKey[] | undefined {
  const { connection, close } = openReadSnapshot(file);
  try {
    const recorded = connection.prepare("SELECT value FROM meta WHERE name = 'accounted'").get();
    if (recorded === undefined || BigInt(recorded['value'] as number) !== readGraphPosition(connection))
      return undefined;
    return keysOf(connection.prepare('SELECT world, key FROM stale').all());
  } finally {
    close();
  }
}

/** Reads the parked documents of a graph that another process has open, dropped or not. */
export function readParkedKeys(file: string): readonly DocumentKey[] {
  const { connection, close } = openReadSnapshot(file);
  try {
    return keysOf(connection.prepare('SELECT world, key FROM parked').all());
  } finally {
    close();
  }
}

function keysOf(rows: readonly Record<string, unknown>[]): readonly DocumentKey[] {
  return rows.flatMap(({ world, key }) => {
    const name = WORLDS[world as number];
    return name === undefined ? [] : [{ world: name, key: key as number }];
  });
}
