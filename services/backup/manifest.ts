import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';

const MANIFEST = 'manifest.json';

const position = z.string().regex(/^\d+$/);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** Of the projector and of the file's schema: only graphs of the same ones are alike. */
const graphVersion = { projector: z.int(), schema: z.int(), position };

const common = {
  /** ISO 8601. */
  madeAt: z.string(),
  varve: z.string(),
  space: z.string(),
  log: z.strictObject({ events: z.int(), position }),
  /** Uploaded files. `elsewhere`: they are in a store of their own, and not in the backup. */
  assets: z.union([
    z.strictObject({ kind: z.literal('copied'), files: z.int(), bytes: z.int() }),
    z.strictObject({ kind: z.literal('elsewhere'), place: z.string() }),
  ]),
  /** Of everything beside this file, by path. */
  files: z.record(z.string(), z.strictObject({ bytes: z.int(), sha256 })),
};

/** Digests of whole tables, numbers included that another replay of the same log may give otherwise. */
const tables = z.record(z.string(), z.strictObject({ rows: z.int(), sha256 }));
/** Digests of what compareGraphs compares. */
const groups = z.record(z.string(), z.strictObject({ count: z.int(), sum: z.string() }));

/** `graph`: what the log added up to at a position; null: the directory had no graph. */
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

/** What a backup says of itself. */
export type Manifest = z.infer<typeof form>;
/** As backups are written now. */
export type NewManifest = Extract<Manifest, { readonly format: 3 }>;

/** Written last: a folder without it is no backup. */
export function writeManifest(folder: string, manifest: NewManifest): void {
  writeFileSync(join(folder, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, {
    mode: 0o600,
    flush: true,
  });
}

/** Throws a sentence when there is none, or it is not one. */
export function readManifest(folder: string): Manifest {
  let text: string;
  try {
    text = readFileSync(join(folder, MANIFEST), 'utf8');
  } catch {
    throw new Error(`${folder} is no backup: it has no ${MANIFEST}, which is written last`);
  }
  const parsed = form.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(
    `${join(folder, MANIFEST)} is none that this version knows: ${issue?.path.join('.')} ${issue?.message}`,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
