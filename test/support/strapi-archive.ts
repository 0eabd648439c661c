import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import type { LineShape } from '../../services/strapi/archive.ts';

/** Content of an archive in the format of `strapi export`. */
export type ArchiveContent = {
  readonly schemas: readonly object[];
  readonly entities: Iterable<object>;
  readonly links?: Iterable<object>;
  readonly configuration?: readonly object[];
  /** Bytes by name below `assets/uploads`. */
  readonly assets?: Readonly<Record<string, Buffer>>;
  /** Text of metadata.json. */
  readonly metadata?: string;
};

export async function writeArchive(file: string, content: ArchiveContent): Promise<string> {
  const tar = pack();
  const written = pipeline(tar, createGzip({ level: 1 }), createWriteStream(file));
  const add = (name: string, bytes: Buffer | string) =>
    new Promise<void>((resolve, reject) => {
      tar.entry({ name }, bytes, (error) => (error ? reject(error) : resolve()));
    });
  const lines = (values: Iterable<object>) =>
    Array.from(values, (value) => `${JSON.stringify(value)}\n`).join('');
  await add('schemas/schemas_00001.jsonl', lines(content.schemas));
  await add('entities/entities_00001.jsonl', lines(content.entities));
  for (const [name, bytes] of Object.entries(content.assets ?? {})) {
    await add(`assets/uploads/${name}`, bytes);
    await add(`assets/metadata/${name}.json`, JSON.stringify({ name }));
  }
  await add('links/links_00001.jsonl', lines(content.links ?? []));
  await add('configuration/configuration_00001.jsonl', lines(content.configuration ?? []));
  const metadata = JSON.stringify({ createdAt: AT, strapi: { version: '5.54.0' } });
  await add('metadata.json', content.metadata ?? metadata);
  tar.finalize();
  await written;
  return file;
}

/** Shape of any line, for tests that read all lines. */
export const ANY_LINE: LineShape<unknown> = { name: 'a line', fits: (_line): _line is unknown => true };

export const AT = '2026-01-02T03:04:05.678Z';

type Attributes = { readonly [name: string]: unknown };

/** Returns a line of `schemas/`. */
export function archivedType(name: string, attributes: Attributes, more: object = {}): object {
  const info = { singularName: name, pluralName: `${name}s`, displayName: name };
  const common = { kind: 'collectionType', modelType: 'contentType', modelName: name };
  return { ...common, uid: `api::${name}.${name}`, info, attributes, ...more };
}

export function archivedComponent(uid: string, attributes: Attributes): object {
  return { modelType: 'component', uid, info: { displayName: uid }, attributes };
}

/** Returns a documentId in Strapi's form for a number. */
function archivedId(type: string, number: number): string {
  return type + number.toString(36).padStart(24 - type.length, '0');
}

/** Writes an archive of cooks, and of dishes with a draft and a published row each. `count`: the number of rows. */
export function kitchenArchive(file: string, count: number): Promise<string> {
  const cooks = Math.max(1, Math.floor(count / 20));
  const dishes = Math.floor((count - cooks) / 2);
  const times = { createdAt: AT, updatedAt: AT };
  return writeArchive(file, {
    schemas: [
      archivedType('cook', { name: { type: 'string' } }),
      archivedType(
        'dish',
        {
          name: { type: 'string' },
          text: { type: 'richtext' },
          price: { type: 'decimal' },
          cook: { type: 'relation', relation: 'manyToOne', target: 'api::cook.cook' },
        },
        { options: { draftAndPublish: true } },
      ),
    ],
    entities: (function* () {
      for (let at = 1; at <= cooks; at++)
        yield {
          type: 'api::cook.cook',
          id: at,
          data: {
            documentId: archivedId('cook', at),
            name: `Cook ${at}`,
            ...times,
            publishedAt: AT,
            locale: null,
          },
        };
      for (let at = 1; at <= dishes * 2; at++) {
        const dish = Math.ceil(at / 2);
        const data = { name: `Dish ${dish}`, text: 'Serve hot. '.repeat(20), price: dish % 90, ...times };
        const publishedAt = at % 2 === 0 ? AT : null;
        yield {
          type: 'api::dish.dish',
          id: at,
          data: { documentId: archivedId('dish', dish), ...data, publishedAt, locale: null },
        };
      }
    })(),
    links: (function* () {
      for (let at = 1; at <= dishes * 2; at++)
        yield {
          kind: 'relation.basic',
          relation: 'manyToOne',
          left: { type: 'api::dish.dish', ref: at, field: 'cook' },
          right: { type: 'api::cook.cook', ref: (at % cooks) + 1 },
        };
    })(),
  });
}
