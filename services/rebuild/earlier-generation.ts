import type { AssetStore } from '../../shared/asset-store/asset-store.ts';
import type { AccessControl } from '../access/access-control.ts';
import type { TokenCommands } from '../access/token-commands.ts';
import { WRITES_ELSEWHERE } from '../api/writes-elsewhere.ts';
import type { ContentStore } from '../content-store.ts';
import { createFreshness } from '../freshness.ts';
import type { ForwardingOptions } from '../http/forward-writes.ts';
import { openForwarding } from '../open-forwarding.ts';
import { traceReadIndex } from '../operating/observe-read-index.ts';
import type { Operating } from '../operating/operating.ts';
import type { OperatorContext } from '../operator/operation.ts';
import { createApis, type ServedApi } from '../served-api.ts';
import { createDefinitionsAhead, type DefinitionsAhead } from './definitions-ahead.ts';

/** What a server does while the content types of its generation are being replaced. */
export type Meanwhile = {
  /** Lets requests be answered by this. */
  serve(api: ServedApi, operator: OperatorContext, changes: readonly string[]): Promise<void>;
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

/** Reads as they were before the content types changed; writes wait for the new generation, and are a 503 after a while. */
async function createEarlierApi(options: EarlierOptions): Promise<ServedApi> {
  const { store, access, operating, defaultLocale, usersEnvelope, lists } = options;
  const { tracing, observeQuery } = operating;
  const readSide = await store.generations.openReadSide();
  const index = traceReadIndex(readSide.index, tracing);
  const registry = store.graph.registry();
  const { address, key } = options;
  return {
    ...{ registry, access, tokens: options.tokens },
    assets: { store: options.assets, index },
    freshness: createFreshness({ readSide, access, waitMs: options.minPositionWait }),
    // The API that follows has the counter.
    forwarding: openForwarding({ fleet: NOBODY_LEADS, address, key, metrics: undefined }),
    apiFor: createApis({
      ...{ registry, index, defaultLocale, usersEnvelope, lists, observe: observeQuery },
      writes: WRITES_ELSEWHERE,
    }),
  };
}

/** Commands are carried out by who has the new content types in its graph: nobody yet. */
const NOBODY_LEADS: ForwardingOptions['fleet'] = {
  leader: () => ({ kind: 'nobody' }),
  changed: (ms) => new Promise((resolve) => setTimeout(resolve, ms).unref()),
};
