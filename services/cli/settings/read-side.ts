import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import { defined } from '../../../shared/defined.ts';
import { loadOptional } from '../../../shared/load-optional.ts';
import {
  DEFAULT_DENORMALISE,
  type DenormaliseSettings,
} from '../../../shared/read-index/elasticsearch/layout/document-layout.ts';
import type { ElasticsearchConnection } from '../../../shared/read-index/elasticsearch/wire/client.ts';
import { embeddedReadSide } from '../../read-side/embedded-read-side.ts';
import type { ReadSidePlan } from '../../read-side/read-side.ts';
import { isEmbedded } from './read-index-settings.ts';
import { readSynonyms } from './read-synonyms.ts';
import { InvalidSettings, type OperatorSettings, type ServeSettings } from './settings.ts';

/** Returns the settings of a server that choose its read side. */
export function readSideSettings({ data, elasticsearch, content }: ServeSettings) {
  return { ...data, ...elasticsearch, synonyms: content.synonyms };
}

/**
 * Returns the plan for the read side that the settings choose. Throws a message if the certificate cannot be read, or a setting for
 * documents has no effect. `hasServed`: an earlier worker of this server has answered. `isReader`: another worker has the data directory.
 */
export async function chooseReadSide(
  settings: OperatorSettings & {
    readonly adopt?: boolean;
    readonly synonyms?: string | undefined;
    readonly isReader?: boolean;
  },
  logger: Logger,
  hasServed = false,
): Promise<ReadSidePlan> {
  const synonyms = readSynonyms(settings.synonyms);
  if (isEmbedded(settings)) {
    refuseWithoutDocuments(settings);
    const { queryTimeLimit, isReader } = settings;
    return embeddedReadSide({
      queryTimeLimit,
      synonyms,
      report: (problem, err) => logger.warn({ err }, problem),
      ...(isReader && { savedRows: Infinity }),
    });
  }
  // The client and its dependencies take longer to load than the rest of the server.
  const { elasticsearchReadSide } = await loadOptional(
    'reading from Elasticsearch',
    () => import('../../elasticsearch/elasticsearch-read-side.ts'),
  );
  return elasticsearchReadSide({
    connection: connectionOf(settings),
    space: settings.space,
    report: logger,
    adopt: settings.adopt ?? false,
    hasServed,
    spread: { shards: settings.readIndexShards, replicas: settings.readIndexReplicas },
    denormalise: denormaliseOf(settings),
    rowCacheBytes: rowCacheBytesOf(settings),
    synonyms,
  });
}

function refuseWithoutDocuments({ denormaliseToOne, denormaliseToMany }: OperatorSettings): void {
  if (denormaliseToOne === undefined && denormaliseToMany === undefined) return;
  const given = denormaliseToOne === undefined ? '--denormalise-to-many' : '--denormalise-to-one';
  throw new InvalidSettings(
    `${given} applies to documents in Elasticsearch, and the embedded index has none: pass the address of an Elasticsearch with --read-index, or omit it`,
  );
}

/** Returns which relations the documents of a content type copy, unless the content type says otherwise. */
export function denormaliseOf({
  denormaliseToOne: toOne = DEFAULT_DENORMALISE.toOne,
  denormaliseToMany: toMany = DEFAULT_DENORMALISE.toMany,
}: OperatorSettings): DenormaliseSettings {
  return { ...DEFAULT_DENORMALISE, toOne, toMany };
}

/** Returns `--read-index-row-cache`, which is in MiB, in bytes. */
export function rowCacheBytesOf({ readIndexRowCache: mebibytes }: OperatorSettings): number {
  return mebibytes * 2 ** 20;
}

/** Returns the connection to Elasticsearch. Throws a message if the certificate cannot be read. */
export function connectionOf(settings: OperatorSettings): ElasticsearchConnection {
  const { readIndexCloudId: cloudId, readIndexApiKey: apiKey, readIndexCa: ca } = settings;
  const addresses =
    settings.readIndex === 'embedded' ? [] : settings.readIndex.split(',').map((each) => new URL(each));
  const [address] = addresses;
  const username = settings.readIndexUser ?? (decodeURIComponent(address?.username ?? '') || undefined);
  const password = settings.readIndexPassword ?? (decodeURIComponent(address?.password ?? '') || undefined);
  const url = address && addresses.map(({ origin, pathname }) => origin + pathname).join();
  return defined({ url, cloudId, username, password, apiKey, ca: readCertificate(ca) });
}

function readCertificate(file: string | undefined): string | undefined {
  try {
    return file === undefined ? undefined : readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`--read-index-ca: ${(error as Error).message}`);
  }
}
