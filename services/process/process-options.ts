import type { Trouble } from '../../shared/event-store/event-store.ts';
import type { DenormaliseSettings } from '../../shared/read-index/elasticsearch/layout/document-layout.ts';
import type { ElasticsearchConnection } from '../../shared/read-index/elasticsearch/wire/client.ts';
import type { SchemaWarning } from '../../shared/schema/schema-problem.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { TypeDefinition } from '../../shared/schema/type-definitions.ts';
import type { AcceptedMedia } from '../assets/accepted-media.ts';
import type { FormatsMade, PictureSettings } from '../assets/pictures/picture-settings.ts';
import type { RefuseLosses } from '../content-types/loss-check.ts';
import type { SettleOptions } from '../content-types/settle-content-types.ts';
import type { Lifetime } from '../delivery/lifetimes.ts';
import type { TaggingOptions } from '../delivery/tagging.ts';
import type { Report } from '../elasticsearch/report.ts';
import type { FleetReport } from '../fleet/lease-terms.ts';
import type { Presence } from '../fleet/presence.ts';
import type { FollowApiOptions } from '../follow/follow-api.ts';
import type { FollowOptions } from '../follow/open-follower.ts';
import type { SendToStrapiOptions } from '../follow/send-to-strapi.ts';
import type { LoginPlan } from '../login/open-login.ts';
import type { Operating } from '../operating/operating.ts';
import type { OperatorContext } from '../operator/operation.ts';
import type { PurgeSettings } from '../purge/open-purger.ts';
import type { RequestRules } from '../query/plan-query.ts';
import type { ReadSidePlan } from '../read-side/read-side.ts';
import type { ReleaseReport } from '../releases/release-term.ts';
import type { SearchLogSettings } from '../searches/open-search-log.ts';
import type { ProcessList } from '../state/process-list.ts';
import type { WebhookReport } from '../webhooks/term-options.ts';
import type { WebhookLimits } from '../webhooks/webhook-limits.ts';
import type { ContentStoreOptions } from './content-store.ts';
import type { TidyOptions } from './tidy-generations.ts';

/** Content types that a process serves. */
type ServedTypes = {
  readonly registry: SchemaRegistry;
  readonly definitions: readonly TypeDefinition[];
  readonly defaultLocale: string;
};

/** Options of a process that answers requests, whatever its role, in the groups of the settings. No group has more than 12 members. */
export type ServingOptions = {
  readonly content: ServedTypes;
  readonly data: {
    readonly space: string;
    /** Called for calls to the log's server that are retried. Default: writes them to standard error. */
    readonly reportTrouble?: (trouble: Trouble) => void;
  };
  readonly access: {
    /** Settings of the login. Absent: nobody can sign in. A process without a data directory accepts only tokens of identity providers. */
    readonly login?: LoginPlan | undefined;
    /** Key of tokens and cursors, base64url; absent: made in the folder of the log. */
    readonly accessKey?: string | undefined;
  };
  readonly strapi: {
    readonly usersEnvelope: boolean;
    readonly rules: RequestRules;
    /** True: an entry can be published only with its required relations and files. */
    readonly strictRelations?: boolean;
  };
  readonly caches: CacheOptions;
  readonly fleet: {
    /** Milliseconds that a read waits for a position of the log. */
    readonly minPositionWait: number;
  };
  readonly operating: Operating;
  readonly worker: {
    /** The processes of the log. */
    readonly processes: ProcessList;
    /** The process that was started, which is above this one. It has locked the data directory. */
    readonly pid: number;
  };
};

type CacheOptions = {
  /** Memory for whole answers; 0 or absent: none are remembered. */
  readonly answerCacheBytes?: number;
  /** Tags in a header of answers that caches may share; absent: no tags. */
  readonly tagging?: Omit<TaggingOptions, 'key' | 'position' | 'purged'> | undefined;
  /** Times for which caches may serve answers that are no longer up to date. */
  readonly lifetime: Lifetime;
  /** Called once when this process cannot read whether the leader purges caches. */
  readonly unwatched: (error: unknown) => void;
  /** A token whose answers are public; `refused` is called when they no longer are. */
  readonly cacheToken?: { readonly name: string; readonly refused: (problem: string) => void } | undefined;
  /** Caches from which a leader purges changes. */
  readonly purges?: PurgeSettings | undefined;
};

/** Options of a process with a data directory. */
export type VarveOptions = ServingOptions &
  ContentStoreOptions & {
    readonly content: {
      /** Parts of the schema files that are not served as they are. */
      readonly schemaWarnings: readonly SchemaWarning[];
      /** Code of the project that is not run, one line for each kind. */
      readonly codeNotes: readonly string[];
      readonly refuseLosses: RefuseLosses;
      /** Receives what the scheduler did. Absent: there are no releases, because the content is that of a Strapi. */
      readonly releases?: ReleaseReport | undefined;
    };
    readonly data: {
      /** Location of uploaded files, a folder or an s3: address; absent: see assetsAddress. */
      readonly assets?: string | undefined;
      /** True: this process becomes the owner of uploaded files that another log has written. */
      readonly adopt?: boolean;
      /** Absent: searches are not counted. */
      readonly searches?: SearchLogSettings | undefined;
    };
    readonly readSide: ReadSidePlan;
    readonly files: UploadOptions;
    readonly fleet: FleetOptions;
    readonly worker: {
      readonly build?: OperatorContext['build'];
      readonly command?: OperatorContext['command'];
      /** Absent if this is the only worker. */
      readonly otherWorkers?: OperatorContext['workers'];
    };
    /** A Strapi to follow. */
    readonly follow?: FollowSettings | undefined;
    /** Absent: no webhooks are delivered. */
    readonly webhooks?: { readonly limits: WebhookLimits; readonly report: WebhookReport };
  };

/** Uploaded files. */
type UploadOptions = {
  /** Maximum bytes of one uploaded file. */
  readonly uploadLimit: number;
  readonly uploadTypes: AcceptedMedia;
  readonly pictureFormats: FormatsMade;
  /** Maximum pixels of one picture. */
  readonly picturePixels: number;
  /** Called for a picture without formats, with the reason. */
  readonly leftWithoutFormats: PictureSettings['left'];
};

/** Place of a process among the processes of its log. */
type FleetOptions = {
  /** False: this process is never the leader, and forwards its writes. Default: it can become leader. */
  readonly mayLead?: boolean;
  /**
   * Resolves when the process that this one replaces has stepped down or ended. Before that this process does not claim the lease, even
   * if the other one is silent. Absent: this process claims the lease whenever it is free.
   */
  readonly claimsFrom?: Promise<void> | undefined;
  /** Presence of this process for others of its log. */
  readonly presence: Pick<Presence, 'owner' | 'join'>;
  /** Address at which other processes reach this one. */
  readonly address: string;
  readonly fleetLog: FleetLog;
  /** Resolves when this process may change the content types of the process that it replaces. Absent: it must not change them. */
  readonly turn?: (() => Promise<void>) | undefined;
};

export type FollowSettings = FollowOptions & FollowApiOptions['follow'];

/** Receives news of the fleet. */
export type FleetLog = Pick<SettleOptions, 'waiting'> & {
  readonly report: (what: FleetReport) => void;
  /** Indices that failed rebuilds have left were removed, or could not be. */
  readonly tidied: Pick<TidyOptions, 'removed' | 'failed'>;
  /** An erasure could not be carried out now, and will be tried again. */
  readonly erasing: (error: unknown) => void;
  /** The graph's disk is full, or has space again. */
  readonly space: (what: 'full' | 'resumed', error?: unknown) => void;
};

/** Options of a process that stores nothing. */
export type ApiProcessOptions = ServingOptions & {
  readonly data: {
    /** Address of the log. */
    readonly eventStore: string;
    /** Location of uploaded files. */
    readonly assets: string;
  };
  readonly elasticsearch: {
    readonly connection: ElasticsearchConnection;
    readonly denormalise: DenormaliseSettings;
    /** See `createElasticsearchCluster`. */
    readonly rowCacheBytes: number;
  };
  /** A Strapi that the leader follows. Writes are sent to it. */
  readonly follow?: SendToStrapiOptions['follow'] | undefined;
  readonly report: Report;
};
