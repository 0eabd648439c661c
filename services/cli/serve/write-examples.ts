import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defined } from '../../../shared/defined.ts';
import type { ContentType } from '../../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../../shared/schema/schema-registry.ts';

/** Line of an entries file, in the format of test/conformance/fixtures. Relations are `{"$ref": "type:key"}`. */
type ExampleEntry = {
  /** The content type's singular name. */
  readonly type: string;
  readonly key: string;
} & (ExampleVariant | { readonly locales: Readonly<Record<string, ExampleVariant>> });

type ExampleVariant = {
  readonly state: 'live' | 'draft' | 'published' | 'modified';
  readonly data: Values;
  /** Changes of a modified draft. */
  readonly draft?: Values;
};

type Values = Readonly<Record<string, unknown>>;
type Variant = ExampleVariant & {
  readonly ref: string;
  readonly type: ContentType;
  readonly locale: string | undefined;
};

/**
 * Writes the entries of the `.jsonl` files in `folder`, in their order, through the public HTTP API at `base`, like any client. An entry
 * that refers to a later entry is first written without its relations, and completed at the end. Edits of published entries are also
 * written at the end. Returns the number of documents. Throws with the server's answer if it refuses one.
 */
export async function writeExamples(base: string, folder: string, registry: SchemaRegistry): Promise<number> {
  const documentIds = new Map<string, string>();
  const write = async (variant: Variant, data: Values, status: 'draft' | 'published') => {
    const documentId = documentIds.get(variant.ref);
    documentIds.set(variant.ref, await send(base, variant, documentId, { data, status }));
  };
  const variants = readEntries(folder).flatMap((entry) => variantsOf(entry, registry));
  const unfinished: Variant[] = [];
  for (const variant of variants) {
    if (referencesOf(variant.data).every((ref) => documentIds.has(ref))) {
      await write(variant, resolve(variant.data, documentIds), finalStatus(variant));
      continue;
    }
    unfinished.push(variant);
    await write(variant, withoutReferences(variant.data) as Values, 'draft');
  }
  for (const variant of unfinished) {
    await write(variant, resolve(withReferences(variant.data), documentIds), finalStatus(variant));
  }
  for (const variant of variants) {
    if (variant.draft !== undefined) await write(variant, resolve(variant.draft, documentIds), 'draft');
  }
  return documentIds.size;
}

function finalStatus({ state }: Variant): 'draft' | 'published' {
  return state === 'draft' ? 'draft' : 'published';
}

function readEntries(folder: string): readonly ExampleEntry[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
  return files.sort().flatMap((name) =>
    readFileSync(join(folder, name), 'utf8')
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => JSON.parse(line) as ExampleEntry),
  );
}

function variantsOf(entry: ExampleEntry, registry: SchemaRegistry): readonly Variant[] {
  const type = [...registry.contentTypes.values()].find((candidate) => candidate.singularName === entry.type);
  if (type === undefined)
    throw new Error(`example ${entry.type}:${entry.key}: the content type ${entry.type} does not exist`);
  const ref = `${entry.type}:${entry.key}`;
  if (!('locales' in entry)) return [{ ...entry, ref, type, locale: undefined }];
  return Object.entries(entry.locales).map(([locale, variant]) => ({ ...variant, ref, type, locale }));
}

/** Sends an entry as a POST, or as a PUT if it has a documentId. Returns the documentId. */
async function send(
  base: string,
  { type, locale }: Variant,
  documentId: string | undefined,
  { data, status }: { readonly data: Values; readonly status: 'draft' | 'published' },
): Promise<string> {
  const query = new URLSearchParams({ status, ...defined({ locale }) });
  const path = `/api/${type.pluralName}${documentId === undefined ? '' : `/${documentId}`}`;
  const method = documentId === undefined ? 'POST' : 'PUT';
  const answer = await fetch(`${base}${path}?${query}`, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data }),
  });
  if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${await answer.text()}`);
  const body = (await answer.json()) as { data: { documentId: string } };
  return body.data.documentId;
}

type Reference = { readonly $ref: string };

function isReference(value: unknown): value is Reference {
  return typeof value === 'object' && value !== null && '$ref' in value;
}

function isRelation(value: unknown): boolean {
  return isReference(value) || (Array.isArray(value) && value.length > 0 && value.every(isReference));
}

function referencesOf(value: unknown): readonly string[] {
  if (isReference(value)) return [value.$ref];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(referencesOf) : [];
}

/** Returns a value without its relations, and without those of its components. */
function withoutReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutReferences);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([, child]) => !isRelation(child));
  return Object.fromEntries(kept.map(([name, child]) => [name, withoutReferences(child)]));
}

/** Returns the attributes that have references. */
function withReferences(data: Values): Values {
  return Object.fromEntries(Object.entries(data).filter(([, value]) => referencesOf(value).length > 0));
}

/** Returns a copy of an entry's values in which documentIds replace the references. */
function resolve(data: Values, documentIds: ReadonlyMap<string, string>): Values {
  return JSON.parse(JSON.stringify(data), (_name, value: unknown) => {
    if (!isReference(value)) return value;
    const documentId = documentIds.get(value.$ref);
    if (documentId === undefined) throw new Error(`example reference ${value.$ref} has no target`);
    return documentId;
  });
}
