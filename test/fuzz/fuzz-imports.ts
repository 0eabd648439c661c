import type { Random } from '../support/naive-random.ts';
import { makeArchiveInput } from './archive-inputs.ts';
import { type ImportInput, openImportTarget } from './import-target.ts';
import { makeLinesInput } from './line-inputs.ts';

const MOST_FINDINGS = 10;
/** One of so many inputs is stored and read with the API, which takes longer than its import. */
const SERVED = 20;

/** Imports the inputs with the numbers from `first` to `end`. Prints findings, and returns false if there are any. */
export async function fuzzImports(
  randomOf: (number: number) => Random,
  first: number,
  end: number,
): Promise<boolean> {
  const target = await openImportTarget();
  const started = performance.now();
  let [findings, next] = [0, first];
  try {
    for (; next < end && findings < MOST_FINDINGS; next++) {
      const random = randomOf(next);
      const input = random.chance(0.5) ? await makeArchiveInput(random) : makeLinesInput(random);
      const isServed = next % SERVED === 0;
      const fault = await target.faultOf(input, isServed);
      if (fault === undefined) continue;
      findings++;
      console.log(`\n--only ${next}${isServed ? ' (served)' : ''}: ${fault}\n${shown(input)}`);
    }
  } finally {
    await target.close();
  }
  const seconds = (performance.now() - started) / 1_000;
  console.log(
    `${next - first} inputs in ${seconds.toFixed(1)} s (${Math.round((next - first) / seconds)} a second), ${findings} findings`,
  );
  const { imported, refused, documents, answered } = target.counts;
  console.log(
    `${imported} imported with ${documents} documents, ${refused} refused; the API answered ${answered} rows`,
  );
  // A run in which most inputs are refused, or none is read, finds nothing.
  const isUseful = end - first < 100 || (imported > refused && answered > 0);
  return findings === 0 && isUseful;
}

const MOST_SHOWN = 3_000;
/** Levels of deep JSON, and the padding of a tar file. */
const REPEATED = /(.)\1{50,}/gs;

/** Returns the text of an input. */
function shown({ members }: ImportInput): string {
  return members
    .map(([name, bytes]) => {
      const text = bytes[0] === GZIP ? '(compressed)' : bytes.toString('latin1').replace(REPEATED, '$1…');
      return `${name}: ${text.slice(0, MOST_SHOWN)}`;
    })
    .join('\n');
}

const GZIP = 0x1f;
