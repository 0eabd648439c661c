import type { Rights } from '../../shared/access/rights.ts';
import type { AssetStore } from '../../shared/asset-store/asset-store.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { AccessControl } from '../access/access-control.ts';
import type { TokenCommands } from '../access/token-commands.ts';
import { WRITES_ELSEWHERE } from '../api/writes-elsewhere.ts';
import type { ContentStore } from '../content-store.ts';
import { createFreshness } from '../freshness.ts';
import type { Freshness } from '../http/await-position.ts';
import { type CallerApi, createCallerApis } from '../http/caller-apis.ts';
import { createContentApi } from '../http/create-content-api.ts';
import type { ForwardingOptions } from '../http/forward-writes.ts';
import type { AssetRoutesOptions } from '../http/serve-assets.ts';
import { createUploadApi } from '../http/upload-api.ts';
import { openForwarding } from '../open-forwarding.ts';
import { traceReadIndex } from '../operating/observe-read-index.ts';
import type { Operating } from '../operating/operating.ts';
import type { OperatorContext } from '../operator/operation.ts';
import { createDefinitionsAhead, type DefinitionsAhead } from './definitions-ahead.ts';

/** Reads as they were before the content types changed; writes wait for the new generation, and are a 503 after a while. */
export type EarlierApi = {
  readonly registry: SchemaRegistry;
  readonly access: AccessControl;
  readonly tokens: TokenCommands;
  readonly apiFor: (rights: Rights) => CallerApi;
  readonly assets: AssetRoutesOptions;
  readonly freshness: Freshness;
  readonly forwarding: ForwardingOptions;
};

/** What a server does while the content types of its generation are being replaced. */
export type Meanwhile = {
  /** Lets requests be answered by this. */
  serve(api: EarlierApi, operator: OperatorContext, changes: readonly string[]): Promise<void>;
  /** Has the next generation made by another process, which asks for it to be taken over. */
  rebuild(): void;
  /** The next generation serves. */
  over(): void;
};

export type EarlierOptions = {
  readonly data: string;
  readonly space: string;
  readonly store: ContentStore;
  readonly access: AccessControl;
  readonly tokens: TokenCommands;
  readonly assets: AssetStore;
  readonly key: Buffer;
  readonly address: string;
  readonly operating: Operating;
  readonly defaultLocale: string;
  readonly usersEnvelope: boolean;
  readonly minPositionWait: number;
  readonly lists: { readonly cursorKey: Uint8Array; readonly maxOffset: number };
  readonly meanwhile: Meanwhile;
  /** Brings the content types of this process into force; the graph that is served stays as it is. */
  readonly settle: (ahead: DefinitionsAhead) => Promise<unknown>;
};

/**
 * Serves the generation there is, by its own content types, until another process has made the next one from the log and it has
 * taken over. Resolves then: the store's graph is that of the new generation.
 */
export async function serveEarlier(options: EarlierOptions): Promise<void> {
  const { store, meanwhile, operating } = options;
  const { generations, graph, pending } = store;
  const { data, space } = options;
  const operator: OperatorContext = {
    ...{ data, space, log: store.log, graph, generations, server: true },
    readSide: generations.openReadSide,
  };
  await meanwhile.serve(await createEarlierApi(options), operator, pending?.changes ?? []);
  operating.readiness.serving(async () => 0);
  operating.readiness.note(
    'The content types have changed: reads are answered as before until the new read model is there',
  );
  await options.settle(createDefinitionsAhead(graph));
  const switched = generations.switched();
  meanwhile.rebuild();
  await switched;
  operating.readiness.note(undefined);
  meanwhile.over();
}

async function createEarlierApi(options: EarlierOptions): Promise<EarlierApi> {
  const { store, access, operating, defaultLocale, usersEnvelope, lists } = options;
  const { tracing, observeQuery } = operating;
  const readSide = await store.generations.openReadSide();
  const index = traceReadIndex(readSide.index, tracing);
  const registry = store.graph.registry();
  const { commands, library } = WRITES_ELSEWHERE;
  const { address, key } = options;
  return {
    ...{ registry, access, tokens: options.tokens },
    assets: { store: options.assets, index },
    freshness: createFreshness({ readSide, access, waitMs: options.minPositionWait }),
    // The API that follows has the counter.
    forwarding: openForwarding({ fleet: NOBODY_LEADS, address, key, metrics: undefined }),
    apiFor: createCallerApis(registry, (visible, caller) => {
      const shared = { registry: visible, index, defaultLocale, caller, observe: observeQuery };
      return {
        content: createContentApi({ ...shared, commands, usersEnvelope, userId: () => undefined, lists }),
        uploads: createUploadApi({ ...shared, library }),
      };
    }),
  };
}

/** Commands are carried out by who has the new content types in its graph: nobody yet. */
const NOBODY_LEADS: ForwardingOptions['fleet'] = {
  leader: () => ({ kind: 'nobody' }),
  changed: (ms) => new Promise((resolve) => setTimeout(resolve, ms).unref()),
};
