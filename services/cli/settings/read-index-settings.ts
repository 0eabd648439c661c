import { z } from 'zod';
import { file, type SettingsTable, wholeNumber } from './setting.ts';

/** Settings of the read index, for every command that opens the read side. */
export const READ_INDEX_SETTINGS = {
  queryTimeLimit: {
    flags: '--query-time-limit <ms>',
    description:
      'maximum time in milliseconds that the embedded index works on one answer; beyond it the answer is a 400 (default: 5000)',
    schema: wholeNumber(1, 3_600_000).default(5_000),
  },
  readIndex: {
    flags: '--read-index <where>',
    description:
      'index that answers queries: embedded, or the URL of an Elasticsearch cluster, such as http://127.0.0.1:9200. Several nodes: their URLs with commas between them (default: embedded)',
    schema: z
      .union([z.literal('embedded'), z.string().refine(areAddresses)], {
        error: 'must be embedded, or http or https addresses with commas between them',
      })
      .default('embedded'),
  },
  readIndexUser: {
    flags: '--read-index-user <name>',
    description: 'name of the user for Elasticsearch',
    schema: z.string().optional(),
  },
  readIndexPassword: {
    flags: '--read-index-password <password>',
    isSecret: true,
    description: 'password of the user for Elasticsearch. Prefer the variable',
    schema: z.string().optional(),
  },
  readIndexApiKey: {
    flags: '--read-index-api-key <key>',
    isSecret: true,
    description: 'API key for Elasticsearch, instead of a user. Prefer the variable',
    schema: z.string().optional(),
  },
  readIndexCa: {
    flags: '--read-index-ca <file>',
    description:
      'PEM file with the certificate of the authority that signed the certificate of Elasticsearch',
    schema: file.optional(),
  },
  readIndexShards: {
    flags: '--read-index-shards <number>',
    description: 'number of primary shards of each new index in Elasticsearch (default: 1)',
    schema: wholeNumber(1, 1024).default(1),
  },
  readIndexReplicas: {
    flags: '--read-index-replicas <number>',
    description:
      'number of copies of each shard in Elasticsearch (default: 1 for new indices if the cluster has several nodes; existing indices stay unchanged)',
    schema: wholeNumber(0, 100).optional(),
  },
  readIndexRowCache: {
    flags: '--read-index-row-cache <MiB>',
    description:
      'size in MiB of the cache for rows from Elasticsearch, which saves Elasticsearch about a fifth of its work; 0: no cache (default: 128)',
    schema: wholeNumber(0, 65_536).default(128),
  },
  denormaliseToOne: {
    flags: '--denormalise-to-one <steps>',
    description:
      'maximum length of a chain of to-one relations whose rows a document in Elasticsearch copies, unless its content type sets one; the same in every process of a log (default: 2)',
    schema: wholeNumber(0, 5).optional(),
  },
  denormaliseToMany: {
    flags: '--denormalise-to-many <steps>',
    description:
      'whether documents in Elasticsearch copy the to-many relations that their content type owns: 1 or 0; the same in every process of a log (default: 1)',
    schema: wholeNumber(0, 1).optional(),
  },
  readIndexCloudId: {
    flags: '--read-index-cloud-id <id>',
    description: 'id of a deployment on Elastic Cloud, instead of the URL in --read-index',
    schema: z.string().optional(),
  },
} as const satisfies SettingsTable;

/** Settings that choose the read index. */
export type ReadIndexChoice = { readonly readIndex: string; readonly readIndexCloudId?: string | undefined };

/** Returns whether the read index is in the process. */
export function isEmbedded({ readIndex, readIndexCloudId }: ReadIndexChoice): boolean {
  return readIndex === 'embedded' && readIndexCloudId === undefined;
}

const ADDRESS = z.url({ protocol: /^https?$/ });

function areAddresses(text: string): boolean {
  return text.split(',').every((each) => ADDRESS.safeParse(each).success);
}
