import { embeddedReadSide } from '../../services/read-side/embedded-read-side.ts';
import { FULL_ACCESS } from '../../shared/access/rights.ts';
import { contentTypeOf } from '../../shared/schema/schema-registry.ts';
import { openInProcess } from './varve-in-process.ts';

// A program that test/unit/process/index-snapshot.test.ts starts with a data directory. It writes tags until it is killed, and prints the
// name of each that is stored.
const [, , data = ''] = process.argv;
const varve = await openInProcess(data, { readSide: embeddedReadSide({ savedRows: 1 }) });
const type = contentTypeOf(varve.registry, 'api::tag.tag');
for (let n = 0; ; n++) {
  const name = `n${n}`;
  await varve.apiFor(FULL_ACCESS).content.create(type, '', { data: { key: name, name } });
  process.stdout.write(`${name}\n`);
}
