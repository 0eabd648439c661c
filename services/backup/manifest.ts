import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { valueOfJson } from '../../shared/json.ts';

const MANIFEST = 'manifest.json';

const position = z.string().regex(/^\d+$/);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** Versions of the projector and of the database schema: graphs of different versions differ. */
const graphVersion = { projector: z.int(), schema: z.int(), position };

const common = {
  /** ISO 8601. */
  madeAt: z.string(),
  varve: z.string(),
  space: z.string(),
  log: z.strictObject({ events: z.int(), position }),
  /** Uploaded files. With `elsewhere` they are in a separate store and not in the backup. */
  assets: z.union([
    z.strictObject({ kind: z.literal('copied'), files: z.int(), bytes: z.int() }),
    z.strictObject({ kind: z.literal('elsewhere'), place: z.string() }),
  ]),
  /** Every other file, by path. */
  files: z.record(z.string(), z.strictObject({ bytes: z.int(), sha256 })),
};

/** Digests of whole tables, including numbers that another replay of the same log may assign differently. */
const tables = z.record(z.string(), z.strictObject({ rows: z.int(), sha256 }));
/** Digests of the groups that compareGraphs compares. */
const groups = z.record(z.string(), z.strictObject({ count: z.int(), sum: z.string() }));

/** Manifest by format. `graph` is the content graph at a position of the log; null if the directory had none. */
const form = z.discriminatedUnion('format', [
  z.strictObject({
    ...common,
    format: z.literal([1, 2]),
    graph: z.strictObject({ ...graphVersion, tables }).nullable(),
  }),
  z.strictObject({
    ...common,
    format: z.literal(3),
    graph: z.strictObject({ ...graphVersion, groups }).nullable(),
  }),
]);

/** Manifest of a backup. */
export type Manifest = z.infer<typeof form>;
/** Current format of backups. */
export type NewManifest = Extract<Manifest, { readonly format: 3 }>;

/** Writes the manifest, which comes last: a folder without it is not a backup. */
export function writeManifest(folder: string, manifest: NewManifest): void {
  writeFileSync(join(folder, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, {
    mode: 0o600,
    flush: true,
  });
}

/** Reads the manifest of a folder. Throws a message if there is none or if it is malformed. */
export function readManifest(folder: string): Manifest {
  let text: string;
  try {
    text = readFileSync(join(folder, MANIFEST), 'utf8');
  } catch {
    throw new Error(`${folder} is not a complete backup: it has no ${MANIFEST}`);
  }
  const parsed = form.safeParse(valueOfJson(text));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(
    `${join(folder, MANIFEST)} is not a manifest of a known version: ${issue?.path.join('.')} ${issue?.message}`,
  );
}
