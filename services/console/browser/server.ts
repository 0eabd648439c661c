/** Answers of the server: the server's own types, where its rooms are above this one. */

import type { Generation, Rebuild } from '../../../projections/generations/generation.ts';
import type { ActivitySample } from '../../operating/activity.ts';
import type { ProjectionStatus, Status } from '../../operator/status.ts';
import type { ListedEvent } from '../../state/listed-event.ts';
import type { ListedProcess } from '../../state/process-report.ts';
import type { State, StateCondition } from '../../state/state.ts';

export type {
  DescribedRole as ListedRole,
  PossibleRights as RightRow,
} from '../../access/access-resources.ts';
export type { TokenDescription as ListedToken } from '../../access/describe-token.ts';
export type { Manifest as BackupManifest } from '../../backup/manifest.ts';
export type { EraseAnswer } from '../../erasure/erase-documents.ts';
export type { DescribedErasure as ListedErasure } from '../../erasure/erasure-resources.ts';
export type { SlowQuery } from '../../operating/slow-queries.ts';
export type { ForeignEvent, ParkedItem, ParkedLine } from '../../operator/parked.ts';
export type {
  DescribedAction as ListedReleaseAction,
  DescribedRelease as ListedRelease,
} from '../../releases/describe-release.ts';
export type { ListedSearch } from '../../searches/list-searches.ts';
export type { DescribedSetting as ShownSetting, SettingsInForce } from '../../state/settings-in-force.ts';
export type { WholeEvent } from '../../state/whole-event.ts';
export type { ImportedLine } from '../../transfer/import-documents.ts';
export type {
  DescribedDelivery as ListedDelivery,
  DescribedWebhook as ListedWebhook,
} from '../../webhooks/describe-webhook.ts';
export type StateWarning = StateCondition;
export type ServerProcess = ListedProcess;
export type Projection = ProjectionStatus;
export type ListedGeneration = Generation;
export type ListedRebuild = Rebuild;
export type Figures = ActivitySample;
export type LogEvent = ListedEvent;

/** A process without a data directory has only the state. */
export type ServerState = State & Partial<Omit<Status, keyof State>>;

export type ShownAttribute = {
  readonly type: string;
  readonly relation?: string;
  readonly target?: string;
  readonly component?: string;
  readonly components?: readonly string[];
  readonly repeatable?: boolean;
  readonly multiple?: boolean;
  readonly enum?: readonly string[];
  readonly required?: boolean;
  readonly unique?: boolean;
  readonly default?: unknown;
  readonly min?: number | string;
  readonly max?: number | string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly regex?: string;
  readonly targetField?: string;
  readonly allowedTypes?: readonly string[];
  /** True if no answer has its value. */
  readonly isHidden?: boolean;
  readonly pluginOptions?: { readonly i18n?: { readonly localized?: boolean } };
};

/** Rights of the caller. `writeOnly`: attributes that no answer has, by type and component. */
export type CallerRights = {
  readonly kind: string;
  readonly drafts: boolean;
  readonly history: boolean;
  readonly types: Readonly<Record<string, readonly string[]>>;
  readonly writeOnly: Readonly<Record<string, Readonly<Record<string, ShownAttribute>>>>;
};

export type Type = {
  readonly uid: string;
  readonly plugin?: string;
  readonly schema: {
    readonly draftAndPublish: boolean;
    readonly displayName: string;
    readonly singularName: string;
    readonly pluralName: string;
    readonly kind: string;
    readonly pluginOptions?: { readonly i18n?: { readonly localized?: boolean } };
    readonly attributes: Readonly<Record<string, ShownAttribute>>;
  };
};

export type ShownComponent = {
  readonly uid: string;
  readonly schema: {
    readonly displayName: string;
    readonly attributes: Readonly<Record<string, ShownAttribute>>;
  };
};
