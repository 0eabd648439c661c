#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageRoot } from '../../shared/package-root.ts';
import { keepTickShape } from './keep-tick-shape.ts';

// Half of a start would be reading, stripping and compiling the same files again.
const compileCache = join(packageRoot(import.meta.url), 'node_modules/.cache/varve');
enableCompileCache(compileCache);
// Threads and child processes do not inherit the cache. The variable enables it there.
process.env['NODE_COMPILE_CACHE'] ??= compileCache;

/** Servers run as a worker below a supervisor. */
const SUPERVISED: readonly (string | undefined)[] = ['serve', 'project', 'api'];

const [command] = process.argv.slice(2);
// The supervisor parses no settings and imports no code for that: a start costs little more than without one.
if (SUPERVISED.includes(command)) {
  const { startSupervisor } = await import('./serve/start-supervisor.ts');
  // This is the path of the start. If it is a link, a later worker runs the program that is installed then.
  startSupervisor(process.argv[1] ?? fileURLToPath(import.meta.url), process.argv.slice(2));
} else {
  const { WORKER_ARGUMENT } = await import('../supervisor/protocol.ts');
  const { BUILDER_ARGUMENT, becomeBuilder } = await import('../supervisor/builder-process.ts');
  const { PAST_ARGUMENT, becomePast } = await import('../supervisor/past-child.ts');
  if (command === WORKER_ARGUMENT && process.send !== undefined) {
    process.argv.splice(2, 1);
    const { becomeWorker } = await import('../supervisor/connect-supervisor.ts');
    becomeWorker();
  }
  if (command === BUILDER_ARGUMENT && process.send !== undefined) {
    const [, server] = process.argv.splice(2, 2);
    becomeBuilder(server);
  }
  if (command === PAST_ARGUMENT && process.send !== undefined) {
    const [, server] = process.argv.splice(2, 2);
    becomePast(server);
  }
  keepTickShape();
  await import('./run-command.ts');
}
