import { writeParts } from '../../shared/part-file.ts';

// A program that test/unit/process/index-snapshot.test.ts starts with a file. It writes parts of a snapshot until it is killed.
const [, , file = ''] = process.argv;

function* endless(): Iterable<Buffer> {
  for (;;) {
    yield Buffer.alloc(2 ** 16, 'x');
    process.stdout.write('part\n');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
  }
}
writeParts(file, endless());
