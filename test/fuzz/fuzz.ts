import { Command } from 'commander';
import { createRandom } from '../support/naive-random.ts';
import { makeBenchRead } from './bench-reads.ts';
import { createAnswerCounts } from './count-answers.ts';
import { findFault } from './find-fault.ts';
import { fuzzImports } from './fuzz-imports.ts';
import { makeInput } from './inputs.ts';
import { minimise } from './minimise.ts';
import type { FuzzInput, FuzzMaterial } from './requests.ts';
import { type FuzzTarget, startTarget } from './target.ts';
import { createWireClient } from './wire-client.ts';

type Options = {
  readonly inputs: string;
  readonly seed: string;
  readonly readIndex?: string;
  readonly fleet?: boolean;
  readonly s3?: boolean;
  readonly bench?: boolean;
  readonly imports?: boolean;
  readonly restaurants: string;
  readonly reviews: string;
  readonly connections?: string;
  readonly only?: string;
};

/**
 * `npm run fuzz -- --inputs 20000 --seed 7`: starts a server and sends it mutated requests. Fails if an answer is a 5xx or is missing, if
 * a process ends, or if an answer reveals a secret to its caller. The same seed makes the same inputs.
 */
const options = new Command('fuzz')
  .option('--inputs <count>', 'how many', '20000')
  .option('--seed <number>', 'of the inputs', String(Date.now() % 1_000_000))
  .option('--read-index <url>', 'an Elasticsearch; default: the embedded index')
  .option('--fleet', 'through varve api with a varve project; needs --read-index')
  .option('--s3', 'uploads go to a double of an S3 store')
  .option('--bench', 'generated reads of many rows, on the data set of the benchmark')
  .option('--imports', 'archives, JSON lines and CSV files for varve import, in this process; no requests')
  .option('--restaurants <count>', 'of that data set', '20000')
  .option('--reviews <count>', 'of that data set', '60000')
  .option('--connections <count>', 'inputs in flight at a time; default: 32, or 2 with --bench')
  .option('--only <number>', 'this input of the seed alone')
  .parse()
  .opts<Options>();

const MOST_FINDINGS = 10;
const seed = Number(options.seed);
const count = Number(options.inputs);
const { readIndex, fleet = false, s3 = false, bench = false, restaurants, reviews } = options;
// With more, a read of many rows could wait for longer than an answer may take.
const connections = Number(options.connections ?? (bench ? 2 : 32));
console.log(`seed ${seed}, ${count} inputs`);
if (options.imports === true) {
  const first = Number(options.only ?? 0);
  const isClean = await fuzzImports(inputRandom, first, options.only === undefined ? count : first + 1);
  process.exit(isClean ? 0 : 1);
}
const began = performance.now();
const target = await startTarget({
  readIndex,
  fleet,
  s3,
  bench: bench ? { restaurants, reviews } : undefined,
});
console.log(`loaded in ${((performance.now() - began) / 1_000).toFixed(1)} s`);
try {
  process.exitCode = (await run(target)) ? 0 : 1;
} finally {
  await target.dispose();
}

type Finding = { readonly number: number; readonly input: FuzzInput; readonly fault: string };

async function run({ url, material, ended, faults }: FuzzTarget): Promise<boolean> {
  const started = performance.now();
  const findings: Finding[] = [];
  const counts = createAnswerCounts();
  const only = options.only === undefined ? undefined : Number(options.only);
  let next = only ?? 0;
  const end = only === undefined ? count : only + 1;
  const worker = async (): Promise<void> => {
    const client = createWireClient(url);
    while (next < end && findings.length < MOST_FINDINGS && ended().length === 0) {
      const number = next;
      next += 1;
      const input = bench ? inputOnBench(number, material) : makeInput(inputRandom(number), material);
      const fault = await findFault(client, input, counts.add);
      if (fault !== undefined) findings.push({ number, input, fault });
    }
    client.close();
  };
  await Promise.all(Array.from({ length: connections }, worker));
  const seconds = (performance.now() - started) / 1_000;
  for (const finding of findings) await show(finding, url);
  for (const text of [...ended(), ...faults().slice(0, 5)]) console.log(text);
  const done = next - (only ?? 0);
  console.log(
    `${done} inputs in ${seconds.toFixed(1)} s (${Math.round(done / seconds)} a second), ${findings.length} findings, ${ended().length} crashes, ${faults().length} errors in the log`,
  );
  console.log(counts.text());
  const isCrossed = !bench || only !== undefined || counts.hasCrossed();
  if (!isCrossed) console.log('no read crossed a budget: the data set or the reads are too small');
  return findings.length === 0 && ended().length === 0 && faults().length === 0 && isCrossed;
}

/** Returns a generated read, or for one of ten numbers a mutated request. */
function inputOnBench(number: number, material: FuzzMaterial): FuzzInput {
  const random = inputRandom(number);
  if (number % 10 !== 9) return makeBenchRead(random, material);
  const input = makeInput(random, material);
  if (input.kind === 'bytes') return input;
  // The time limit may refuse only one of two requests that have to be answered alike.
  const { pair: _other, ...single } = input;
  return single;
}

/** Returns the random numbers of an input. They depend on its number, and not on its connection. */
function inputRandom(number: number) {
  return createRandom(Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca6b));
}

async function show({ number, input, fault }: Finding, url: string): Promise<void> {
  const smallest = await minimise(input, (smaller) => findFault(createWireClient(url), smaller));
  console.log(`\n--seed ${seed} --only ${number} (${input.kind}): ${fault}`);
  console.log(JSON.stringify(Buffer.from(smallest.bytes).toString('latin1')));
}
