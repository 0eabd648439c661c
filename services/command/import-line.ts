import * as z from 'zod';

const data = z.record(z.string(), z.unknown());
const time = z.iso.datetime();

/** Content of one row, or one locale of a document. `draft`: values of the modified draft that replace those of `data`. */
const variant = z.strictObject({
  /** Default: `published`, `live` on a type without draft & publish, `modified` with `draft`. */
  state: z.enum(['live', 'draft', 'published', 'modified']).optional(),
  data,
  draft: data.optional(),
  /** Row id to use instead of the next number of the type. */
  id: z.int().positive().optional(),
  createdAt: time.optional(),
  publishedAt: time.optional(),
  updatedAt: time.optional(),
});

const named = {
  /** A content type's singular name or uid. */
  type: z.string(),
  /** Name of the document in references of other lines. Default: a new document, the same when the import is repeated. */
  key: z.string().min(1).optional(),
  documentId: z
    .string()
    .regex(/^[a-z][a-z0-9]{23}$/)
    .optional(),
};

const oneLocale = variant.extend(named);
const manyLocales = z.strictObject({
  ...named,
  state: z.string().optional(),
  locales: z.record(z.string(), variant),
});

/** Schema of a line, in docs/import-line.json. */
export const IMPORT_LINE = z.union([oneLocale, manyLocales]);

export type ImportVariant = z.infer<typeof variant>;

/** A line of an import file: a document in the types' default locale, or in each of `locales`. */
export type ImportLine = {
  readonly type: string;
  readonly key: string | undefined;
  readonly documentId?: string | undefined;
  /** `undefined`: the default locale, or none. */
  readonly variants: readonly { readonly locale: string | undefined; readonly variant: ImportVariant }[];
};

/** Parses a line's JSON, or returns the reasons why it is refused. */
export function parseImportLine(
  json: unknown,
): { readonly line: ImportLine } | { readonly reasons: readonly string[] } {
  const hasLocales = typeof json === 'object' && json !== null && 'locales' in json;
  const parsed = hasLocales ? manyLocales.safeParse(json) : oneLocale.safeParse(json);
  if (!parsed.success) return { reasons: parsed.error.issues.map(describeIssue) };
  if ('locales' in parsed.data) {
    const { type, key, documentId, locales } = parsed.data;
    const variants = Object.entries(locales).map(([locale, one]) => ({ locale, variant: one }));
    return { line: { type, key, documentId, variants } };
  }
  const { type, key, documentId, ...one } = parsed.data;
  return { line: { type, key, documentId, variants: [{ locale: undefined, variant: one }] } };
}

function describeIssue({ path, message }: z.core.$ZodIssue): string {
  return path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`;
}
