import type { Client } from '@elastic/elasticsearch';
import { addToList } from '../../../map-values.ts';
import type { Uid } from '../../../schema/content-type.ts';
import type { World } from '../../read-index.ts';
import type { StoredDocument, StoredDocuments, StoredFields, StoredKey } from '../../stored-documents.ts';

/** Fields of a document that can be read back: those of answers, and the digest of the whole body. Columns cannot be read back. */
const FIELDS = { answer: 'src', links: 'links', components: 'parts', columns: 'sum' } as const;

/** Matches the first field of a body, which is in the second line. */
const SUM = new RegExp(`\\n\\{"${FIELDS.columns}":"([^"]+)"`);
/** Bytes around each name, including the line before it that names an index. */
const HEAD = 512;

/** Returns the index for documents of a type and world. */
export type IndexOf = (type: Uid, world: World) => string;

type Range = { readonly index: string; readonly after: number; readonly limit: number };

/** Creates a reader of stored documents. */
export function readStoredDocuments(client: Client, indexOf: IndexOf): StoredDocuments {
  /** Returns documents in the order of their keys, after one key. */
  async function hitsAfter({ index, after, limit }: Range, fields: string[]) {
    const { hits } = await client.search({
      index,
      query: { range: { key: { gt: after } } },
      sort: [{ key: 'asc' }],
      ...(fields.length > 0 && { docvalue_fields: fields }),
      size: limit,
      _source: false,
      track_total_hits: false,
    });
    return hits.hits;
  }
  return {
    async read(documents) {
      const found = new Map<string, StoredDocument>();
      for (const [index, keys] of byIndex(indexOf, documents)) {
        const { hits } = await client.search({
          index,
          query: { terms: { key: keys } },
          docvalue_fields: Object.values(FIELDS),
          size: keys.length,
          version: true,
          _source: false,
          track_total_hits: false,
        });
        for (const { _id, _version, fields } of hits.hits) {
          found.set(`${index} ${_id}`, { fields: readFields(fields ?? {}), position: BigInt(_version ?? 0) });
        }
      }
      return documents.map(({ type, world, key }) => found.get(`${indexOf(type, world)} ${key}`));
    },
    fieldsOf({ bytes }) {
      const [, body] = Buffer.from(bytes).toString().split('\n');
      if (body === undefined || body === '') return undefined;
      const parsed = JSON.parse(body) as Readonly<Record<string, string>>;
      return readFields(Object.fromEntries(Object.values(FIELDS).map((name) => [name, [parsed[name]]])));
    },
    async keysAfter(type, world, after, limit) {
      const hits = await hitsAfter({ index: indexOf(type, world), after, limit }, []);
      return hits.map(({ _id }) => Number(_id));
    },
    async sumsAfter(type, world, after, limit) {
      const hits = await hitsAfter({ index: indexOf(type, world), after, limit }, [FIELDS.columns]);
      return hits.map(({ _id, fields }) => ({
        key: Number(_id),
        sum: String((fields?.[FIELDS.columns] as readonly unknown[] | undefined)?.[0]),
      }));
    },
    sumOf: ({ bytes }) => SUM.exec(Buffer.from(bytes.subarray(0, HEAD)).toString())?.[1],
    async refresh(documents) {
      const index = [...byIndex(indexOf, documents).keys()];
      if (index.length > 0) await client.indices.refresh({ index });
    },
  };
}

function byIndex(indexOf: IndexOf, documents: readonly StoredKey[]): Map<string, number[]> {
  const keys = new Map<string, number[]>();
  for (const { type, world, key } of documents) {
    addToList(keys, indexOf(type, world), key);
  }
  return keys;
}

function readFields(found: Readonly<Record<string, unknown>>): StoredFields {
  return Object.fromEntries(
    Object.entries(FIELDS).flatMap(([name, field]) => {
      const [value] = (found[field] as readonly (string | undefined)[] | undefined) ?? [];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
