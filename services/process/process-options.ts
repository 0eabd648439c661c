import type { Trouble } from '../../shared/event-store/event-store.ts';
import type { DenormaliseSettings } from '../../shared/read-index/elasticsearch/layout/document-layout.ts';
import type { ElasticsearchConnection } from '../../shared/read-index/elasticsearch/wire/client.ts';
import type { SchemaWarning } from '../../shared/schema/schema-problem.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { TypeDefinition } from '../../shared/schema/type-definitions.ts';
import type { AcceptedMedia } from '../assets/accepted-media.ts';
import type { FormatsMade, PictureSettings } from '../assets/pictures/picture-settings.ts';
import type { SettleOptions } from '../content-types/settle-content-types.ts';
import type { Lifetime } from '../delivery/lifetimes.ts';
import type { TaggingOptions } from '../delivery/tagging.ts';
import type { Report } from '../elasticsearch/report.ts';
import type { FleetReport } from '../fleet/fleet.ts';
import type { Presence } from '../fleet/presence.ts';
import type { FollowApiOptions } from '../follow/follow-api.ts';
import type { FollowOptions } from '../follow/open-follower.ts';
import type { SendToStrapiOptions } from '../follow/send-to-strapi.ts';
import type { ServedApi } from '../http/served-api.ts';
import type { LoginPlan } from '../login/open-login.ts';
import type { Operating } from '../operating/operating.ts';
import type { OperatorContext } from '../operator/operation.ts';
import type { PurgeSettings } from '../purge/open-purger.ts';
import type { RequestRules } from '../query/plan-query.ts';
import type { ReadSidePlan } from '../read-side/read-side.ts';
import type { WebhookReport } from '../webhooks/term-options.ts';
import type { WebhookLimits } from '../webhooks/webhook-limits.ts';
import type { ContentStoreOptions } from './content-store.ts';

/** Options of a process that answers requests, whatever its role. */
export type ServingOptions = {
  readonly space: string;
  readonly registry: SchemaRegistry;
  readonly definitions: readonly TypeDefinition[];
  readonly defaultLocale: string;
  readonly usersEnvelope: boolean;
  readonly rules: RequestRules;
  readonly operating: Operating;
  /** Milliseconds that a read waits for a position of the log. */
  readonly minPositionWait: number;
  /** People sign in; absent: nobody does. Without a data directory, with tokens of identity providers alone. */
  readonly login?: LoginPlan | undefined;
  /** Key of tokens and cursors, base64url; absent: made in the folder of the log. */
  readonly accessKey?: string | undefined;
  /** Memory for whole answers; 0 or absent: none are remembered. */
  readonly answerCacheBytes?: number;
  /** Answers that caches may share get tags in a header; absent: they get none. */
  readonly tagging?: Omit<TaggingOptions, 'key' | 'position' | 'purged'> | undefined;
  /** How long caches may serve answers that are no longer up to date. */
  readonly lifetime: Lifetime;
  /** Called once when this process cannot tell the leader what its reads show. */
  readonly unreported: (error: unknown) => void;
  /** A token whose answers are public; `refused` is called when they no longer are. */
  readonly cacheToken?: { readonly name: string; readonly refused: (problem: string) => void } | undefined;
  /** Called for calls to the log's server that are retried. Default: writes them to standard error. */
  readonly reportTrouble?: (trouble: Trouble) => void;
};

/** Options of a process with a data directory. */
export type VarveOptions = ServingOptions &
  ContentStoreOptions & {
    readonly readSide: ReadSidePlan;
    /** Entries are published only with their required relations and files. Absent: also without. */
    readonly strictRelations?: boolean;
    /** Location of uploaded files, a folder or an s3: address; absent: see assetsAddress. */
    readonly assets?: string | undefined;
    /** Bytes of one uploaded file. */
    readonly uploadLimit: number;
    readonly uploadTypes: AcceptedMedia;
    readonly pictureFormats: FormatsMade;
    /** Pixels of one picture. */
    readonly picturePixels: number;
    /** Called for a picture without formats, with the reason. */
    readonly leftWithoutFormats: PictureSettings['left'];
    /** Take over uploaded files that another log has written. */
    readonly adopt?: boolean;
    /** False: this process is never the leader, and forwards its writes. Default: it can become leader. */
    readonly mayLead?: boolean;
    /**
     * For a process that takes another one's place: resolves when that one has stepped down or ended. It does not claim the lease
     * before, however silent the other one is. Absent: it claims the lease whenever that is free.
     */
    readonly claimsFrom?: Promise<void> | undefined;
    /** Presence of this process for others of its log. */
    readonly presence: Pick<Presence, 'owner' | 'join'>;
    /** Address for the others. */
    readonly address: string;
    readonly fleetLog: FleetLog;
    /** Process that has locked the data directory. */
    readonly pid: number;
    /** Parts of the schema files that are not served as they are. */
    readonly schemaWarnings: readonly SchemaWarning[];
    /** A Strapi to follow. */
    readonly follow?: FollowSettings | undefined;
    /** Absent: none are delivered. */
    readonly webhooks?: { readonly limits: WebhookLimits; readonly report: WebhookReport };
    /** Caches that are purged of changes. */
    readonly purges?: PurgeSettings | undefined;
    /**
     * Work while a generation of earlier content types serves, with documents outside the process. Absent: these are made before the
     * server answers.
     */
    readonly meanwhile?: InterimDuties;
    /**
     * For a process that takes another one's place and is to change the content types: resolves when it is to do so. Absent: it must
     * not change them.
     */
    readonly turn?: (() => Promise<void>) | undefined;
    readonly build?: OperatorContext['build'];
    readonly workersBeside?: OperatorContext['workers'];
  };

export type FollowSettings = FollowOptions & FollowApiOptions['follow'];

/** Receives news of the fleet. */
export type FleetLog = Pick<SettleOptions, 'waiting'> & {
  readonly report: (what: FleetReport) => void;
  /** The graph's disk is full, or has space again. */
  readonly space: (what: 'full' | 'resumed', error?: unknown) => void;
};

/** Duties of a server while the content types of its generation are replaced. */
export type InterimDuties = {
  /** Lets requests be answered by this. `leave`: steps down for another process that takes this one's place. */
  serve(
    api: ServedApi,
    operator: OperatorContext,
    changes: readonly string[],
    leave: () => Promise<void>,
  ): Promise<void>;
  /** Answers the requests in flight, and no more connections. Requests may come until this resolves. */
  end(): Promise<void>;
  /** Has the next generation made by another process, and then taken over. */
  rebuild(operator: OperatorContext): void;
};

/** Options of a process that stores nothing. */
export type ApiProcessOptions = ServingOptions & {
  /** Address of the log. */
  readonly eventStore: string;
  readonly connection: ElasticsearchConnection;
  readonly denormalise: DenormaliseSettings;
  /** See `createElasticsearchCluster`. */
  readonly rowCacheBytes: number;
  /** Location of uploaded files. */
  readonly assets: string;
  /** A Strapi that the leader follows, and where writes go. */
  readonly follow?: SendToStrapiOptions['follow'] | undefined;
  readonly report: Report;
};
