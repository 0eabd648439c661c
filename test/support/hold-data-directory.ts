import { lockDataDirectory } from '../../shared/sqlite/lock-data-directory.ts';

// Started by test/unit/lock-data-directory.test.ts: takes the directory's lock, says so, and holds it until killed.
const lock = lockDataDirectory(process.argv[2] ?? '');
process.stdout.write('locked\n');
setInterval(() => lock.holder, 60_000);
