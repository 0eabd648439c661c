import { isRecord } from '../../shared/json-record.ts';
import type { SchemaFile } from '../../shared/schema/build-registry.ts';
import {
  addedAttributes,
  extendedSchema,
  hidesMore,
  isBuiltInType,
} from '../../shared/schema/built-in-types.ts';
import { FILE_TYPE } from '../../shared/schema/content-type.ts';
import { type Archive, archiveFiles, type LineShape, readJsonLines } from './archive.ts';
import { archivePartOf } from './archive-names.ts';

/** Line of `schemas/`: a content type or component, with the attributes that Strapi and its plugins add. */
type ArchivedSchema = {
  readonly modelType: string;
  readonly uid: string;
  readonly attributes: { readonly [name: string]: unknown };
};

const SCHEMA: LineShape<ArchivedSchema> = {
  name: 'a schema with `uid` and `attributes`',
  fits: (line): line is ArchivedSchema =>
    isRecord(line) && typeof line['uid'] === 'string' && isRecord(line['attributes']),
};

/** Attributes that Strapi adds to every content type. */
const ADDED = new Set([
  ...['id', 'documentId', 'createdAt', 'updatedAt', 'publishedAt', 'createdBy', 'updatedBy'],
  ...['locale', 'localizations'],
]);

/** Attributes of Strapi's upload plugin for its media library: the folder of a file, and the entries that show it. */
const OF_MEDIA_LIBRARY = ['folder', 'related'];

/** Plugins of Strapi whose types belong to its admin panel. Users and files are built in. */
const OWN_PLUGINS =
  /^(admin|plugin::(upload|i18n|users-permissions|content-releases|review-workflows))(::|\.)/;

/** Returns the schema files of an archive. */
export async function readArchiveSchemas(archive: Archive): Promise<SchemaFile[]> {
  const files: SchemaFile[] = [];
  for await (const file of archiveFiles(archive)) {
    const isSchemas = archivePartOf(file.name) === 'schemas';
    // Schemas come first in an archive. The rest may have gigabytes.
    if (!isSchemas && files.length > 0) break;
    if (!isSchemas) continue;
    for await (const line of readJsonLines(file, SCHEMA)) {
      const source = schemaFile(line, archive.file);
      if (source !== undefined) files.push(source);
    }
  }
  return files;
}

function schemaFile(schema: ArchivedSchema, archive: string): SchemaFile | undefined {
  const { uid } = schema;
  const file = `${archive} ${uid}`;
  if (schema.modelType === 'component') return { model: 'component', file, uid, json: schema };
  const isOwn = (name: string) => !ADDED.has(name) && !(uid === FILE_TYPE && OF_MEDIA_LIBRARY.includes(name));
  const attributes = Object.fromEntries(Object.entries(schema.attributes).filter(([name]) => isOwn(name)));
  const origin = { model: 'contentType', file, namespace: uid.slice(0, uid.lastIndexOf('.')) } as const;
  if (!isBuiltInType(uid))
    return OWN_PLUGINS.test(uid) ? undefined : { ...origin, json: { ...schema, attributes } };
  const json = extendedSchema(uid, { ...schema, attributes });
  const isChanged = Object.keys(addedAttributes(uid, attributes)).length > 0 || hidesMore(json);
  return json && isChanged ? { ...origin, json } : undefined;
}
