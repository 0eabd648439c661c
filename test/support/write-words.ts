import { createWordFolder } from '../../services/read-side/word-folder.ts';

/** A program that stores words in a folder repeatedly until it is killed. All their bytes have the same value, from 1 to 255. */
const [folder = '', byte = '1', bytes = '1'] = process.argv.slice(2);
const files = createWordFolder(folder);
const words = new Uint8Array(Number(bytes)).fill(Number(byte));
for (;;) await files.write('words', words);
