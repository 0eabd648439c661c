import { lockDataDirectory } from '../../shared/sqlite/lock-data-directory.ts';

// A program that test/unit/lock-data-directory.test.ts starts. It takes the directory's lock, reports it, and holds it until killed.
const lock = lockDataDirectory(process.argv[2] ?? '');
process.stdout.write('locked\n');
setInterval(() => lock.holder, 60_000);
