import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../..');
/** The schema of the conformance corpus. */
export const CONTENT_TYPES = join(ROOT, 'test/conformance/schema');

export type DataSize = { readonly restaurants: string; readonly reviews: string };

export type ImportOptions = {
  /** The checkout whose `varve import` loads the data. Default: this one. */
  readonly checkout?: string;
  readonly settings?: readonly string[];
  /** Changes the files before they are loaded. */
  readonly rewrite?: (folder: string) => void;
};

/** Loads the seeded data set into an empty data directory through `varve import` of a checkout. Returns the documents and the seconds. */
export function importDataSet(
  data: string,
  scratch: string,
  { restaurants, reviews }: DataSize,
  { checkout = ROOT, settings = [], rewrite }: ImportOptions = {},
): { readonly documents: number; readonly seconds: number } {
  const files = join(scratch, 'files');
  const generator = join(ROOT, 'test/conformance/bench/gen-dataset.mjs');
  const sizes = ['--restaurants', restaurants, '--reviews', reviews];
  execFileSync(process.execPath, [generator, '--out', files, ...sizes]);
  rewrite?.(files);
  const paths = readdirSync(files).map((name) => join(files, name));
  const documents = paths.reduce((sum, path) => sum + lineCount(path), 0);
  const started = performance.now();
  const cli = [
    'services/cli/varve.ts',
    'import',
    '--content-types',
    CONTENT_TYPES,
    '--data',
    data,
    ...settings,
    ...paths,
  ];
  execFileSync(process.execPath, cli, { cwd: checkout, stdio: ['ignore', 'ignore', 'inherit'] });
  return { documents, seconds: (performance.now() - started) / 1000 };
}

function lineCount(path: string): number {
  return Number(execFileSync('wc', ['-l', path]).toString().trim().split(' ')[0]);
}

/** Relation paths that the benchmark's queries traverse and that Varve does not copy into documents by default. */
const COPIED_PATHS: Readonly<Record<string, readonly string[]>> = {
  restaurant: ['reviews', 'chef.country.continent'],
  chef: ['restaurants.reviews'],
  review: ['restaurant.chef.country.continent'],
};

/** Writes the same content types, changed so that documents copy the relation paths that the benchmark's queries traverse. */
export function writeDenormalisedTypes(folder: string): void {
  cpSync(CONTENT_TYPES, folder, { recursive: true });
  for (const [name, paths] of Object.entries(COPIED_PATHS)) {
    const file = join(folder, `api/${name}/content-types/${name}/schema.json`);
    const schema = JSON.parse(readFileSync(file, 'utf8')) as { readonly pluginOptions?: object };
    const pluginOptions = { ...schema.pluginOptions, varve: { denormalise: { paths } } };
    writeFileSync(file, JSON.stringify({ ...schema, pluginOptions }, null, 2));
  }
}
