import { z } from 'zod';
import { type SettingsTable, wholeNumber } from './setting.ts';

/** Read index settings of every command that opens the read side. */
export const READ_INDEX_SETTINGS = {
  queryTimeLimit: {
    flags: '--query-time-limit <ms>',
    description: 'maximum work of the embedded index for one answer; more is a 400 (default: 5000)',
    schema: wholeNumber(1, 3_600_000).default(5_000),
  },
  readIndex: {
    flags: '--read-index <where>',
    description:
      'embedded, or the address of an Elasticsearch, such as http://127.0.0.1:9200 (default: embedded)',
    schema: z
      .union([z.literal('embedded'), z.url({ protocol: /^https?$/ })], {
        error: 'must be embedded, or an http or https address',
      })
      .default('embedded'),
  },
  readIndexUser: {
    flags: '--read-index-user <name>',
    description: 'user for Elasticsearch',
    schema: z.string().optional(),
  },
  readIndexPassword: {
    flags: '--read-index-password <password>',
    description: "that user's password; prefer the variable",
    schema: z.string().optional(),
  },
  readIndexApiKey: {
    flags: '--read-index-api-key <key>',
    description: 'an API key of Elasticsearch, instead of a user; prefer the variable',
    schema: z.string().optional(),
  },
  readIndexCa: {
    flags: '--read-index-ca <file>',
    description: "certificate of the authority that signed Elasticsearch's, PEM",
    schema: z.string().min(1, 'is empty: pass a file').optional(),
  },
  readIndexShards: {
    flags: '--read-index-shards <number>',
    description: 'primary shards of new indices in Elasticsearch (default: 1)',
    schema: wholeNumber(1, 1024).default(1),
  },
  readIndexReplicas: {
    flags: '--read-index-replicas <number>',
    description: 'copies of each shard (default: none for new indices, existing ones unchanged)',
    schema: wholeNumber(0, 100).optional(),
  },
  readIndexRowCache: {
    flags: '--read-index-row-cache <MiB>',
    description:
      'cache for rows from Elasticsearch, which saves it about a fifth of its work; 0: none (default: 128)',
    schema: wholeNumber(0, 65_536).default(128),
  },
  denormaliseToOne: {
    flags: '--denormalise-to-one <steps>',
    description:
      'length of the chains of to-one relations that documents in Elasticsearch copy, unless their content type sets it; the same in every process of a log (default: 2)',
    schema: wholeNumber(0, 5).optional(),
  },
  denormaliseToMany: {
    flags: '--denormalise-to-many <steps>',
    description:
      'copy to-many relations that their content type owns: 1 or 0; the same in every process of a log (default: 1)',
    schema: wholeNumber(0, 1).optional(),
  },
  readIndexCloudId: {
    flags: '--read-index-cloud-id <id>',
    description: 'a deployment on Elastic Cloud, instead of an address',
    schema: z.string().optional(),
  },
} as const satisfies SettingsTable;
