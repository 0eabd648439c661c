/** Answers of the server, as far as the page uses them. */

export type Level = 'ok' | 'outage' | 'degraded';

export type StateWarning = {
  readonly code: string;
  readonly severity: 'outage' | 'degraded';
  readonly message: string;
  readonly since: string;
  readonly readers: string;
  readonly writers: string;
  readonly advice: string;
  readonly processes: readonly string[];
};

export type ServerProcess = {
  readonly role: string;
  readonly address: string | null;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly startedAt: string;
  readonly epoch: number | null;
  readonly position: string | null;
  readonly lagSeconds: number | null;
  readonly memoryBytes: number;
  readonly isReady: boolean;
  readonly reason: string | null;
  readonly silentSeconds: number;
};

export type Projection = {
  readonly name: string;
  readonly kind: string;
  readonly generation: number;
  readonly position: string;
  readonly lagEvents: number;
  readonly lagSeconds: number;
  readonly documents: number | null;
  readonly bytes: number | null;
  readonly backlog: number;
  readonly backlogSeconds: number;
  readonly parked: number;
};

export type ListedGeneration = {
  readonly number: number;
  readonly state: 'building' | 'live' | 'kept';
  readonly source: string;
};

export type ListedRebuild = {
  readonly generation: number;
  readonly phase: string;
  readonly wanted: string;
  readonly startedAt: string;
  readonly progress: {
    readonly done: number;
    readonly total: number;
    readonly rate: number;
    readonly lag: number;
  };
  readonly message?: string;
};

/** `log` and what follows is absent in a process without a data directory. */
export type ServerState = {
  readonly summary: { readonly level: Level; readonly text: string };
  readonly conditions: readonly StateWarning[];
  readonly processes: readonly ServerProcess[];
  readonly readIndex: { readonly address: string; readonly status: string; readonly reason?: string } | null;
  readonly webhooks: { readonly waiting: number; readonly parked: number } | null;
  readonly purges: readonly { readonly receiver: string; readonly count: number }[] | null;
  readonly space?: string;
  readonly log?: {
    readonly position: string;
    readonly head: { readonly position: string; readonly chain: string } | null;
    readonly foreignEvents: number;
  };
  readonly projections?: readonly Projection[];
  readonly generations?: readonly ListedGeneration[];
  readonly rebuild?: ListedRebuild | null;
  readonly schemaWarnings?: readonly {
    readonly file: string;
    readonly path: string;
    readonly message: string;
    readonly action: string;
  }[];
  readonly codeNotes?: readonly string[];
};

export type Figures = {
  readonly at: number;
  readonly reads: number;
  readonly writes: number;
  readonly refused: number;
  readonly failed: number;
  readonly readP50: number | null;
  readonly readP99: number | null;
  readonly writeP50: number | null;
  readonly writeP99: number | null;
  readonly logPosition: number | null;
  readonly position: number | null;
  readonly lagSeconds: number | null;
  readonly backlog: number | null;
  readonly memoryBytes: number;
};

export type LogEvent = {
  readonly position: string;
  readonly at: string | null;
  readonly type: string;
  readonly stream: string;
  readonly actor: { readonly kind: string; readonly id?: string; readonly name?: string } | null;
  readonly via: string | null;
  readonly entry: {
    readonly type: string;
    readonly documentId: string;
    readonly locale: string | null;
  } | null;
  readonly changed: readonly string[] | null;
  readonly unreadable: string | null;
};

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
