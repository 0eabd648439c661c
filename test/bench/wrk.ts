import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { LoadResult, MeasureLoad } from './measure-load.ts';

const SCRIPT = join(import.meta.dirname, 'wrk-requests.lua');
/** More answers a second than a server on these machines reaches. */
const MOST_PER_SECOND = 60_000;

/** True if Debian's package `wrk` is installed. */
export function hasWrk(): boolean {
  return spawnSync('wrk', ['--version']).error === undefined;
}

/**
 * Loads a server with wrk, which parses an answer in some microseconds. A load generator in JavaScript takes longer than the server, so
 * its rate depends more on the number of headers than on the server.
 */
export const measureByWrk: MeasureLoad = async ({ base, request, headers = {} }, connections, seconds) => {
  const scratch = mkdtempSync(join(tmpdir(), 'varve-wrk-'));
  try {
    const file = join(scratch, 'requests');
    writeFileSync(
      file,
      Array.from({ length: seconds * MOST_PER_SECOND }, (_, i) => lineOf(request(i))).join(''),
    );
    const load = ['-t', '1', '-c', String(connections), '-d', `${seconds}s`, '--timeout', '30s'];
    load.push(...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]));
    const { stdout } = await promisify(execFile)('wrk', [...load, '-s', SCRIPT, base, '--', file]);
    return resultOf(JSON.parse(stdout.slice(stdout.lastIndexOf('{'))));
  } finally {
    rmSync(scratch, { recursive: true });
  }
};

function lineOf({ method, path, body = '' }: ReturnType<Parameters<MeasureLoad>[0]['request']>): string {
  return `${method}\t${path.replaceAll(' ', '%20')}\t${body}\n`;
}

type Printed = Omit<LoadResult, 'rate'> & { readonly seconds: number };

function resultOf({ seconds, requests, failed, ...latencies }: Printed): LoadResult {
  const good = requests - failed;
  return { ...latencies, failed, requests: good, rate: good / seconds };
}
