import { packageVersion } from '../package-version.ts';

/** Increase it when an index has other contents or another form than before, although it is made from the same graph. */
const FORMAT = 3;

/** Name of this program, and of the V8 that reads what it has written. Other programs may make another index from the same graph. */
export const INDEX_FORMAT = `${packageVersion()} ${FORMAT} ${process.versions.v8}`;
