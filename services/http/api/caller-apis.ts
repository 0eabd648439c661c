import { mayFind, mayReadDrafts, type Rights, rightsKey } from '../../../shared/access/rights.ts';
import { visibleRegistry } from '../../../shared/access/visible-registry.ts';
import { valueAt } from '../../../shared/map-values.ts';
import { remembered } from '../../../shared/remembered.ts';
import type { SchemaRegistry } from '../../../shared/schema/schema-registry.ts';
import type { InstantSearchApi } from '../../instant-search/instant-search-api.ts';
import type { CallerRules } from '../../query/plan-query.ts';
import type { Delivery } from './cacheable.ts';
import { type GuardedApis, guardApis } from './guard-content-api.ts';
import { withoutWrites } from './without-writes.ts';

/** API for callers with certain rights. */
export type CallerApi = GuardedApis & {
  readonly rights: Rights;
  /** Content types that the caller sees. */
  readonly registry: SchemaRegistry;
  /** Algolia's protocol. Content that the caller may not find does not exist there. */
  readonly instant: InstantSearchApi;
  readonly delivery: Delivery;
  /** The same for writes that another process carries out: they check the caller's rights, and then throw NotLeading. */
  readonly checkOnly: GuardedApis;
};

/** `rights`: the key of the caller's rights. */
type CreateApis = (
  registry: SchemaRegistry,
  rules: CallerRules,
  rights: string,
) => GuardedApis & Pick<CallerApi, 'instant' | 'delivery'>;

/** Creates APIs by rights. Equal rights share one API, so that a request costs one look-up. Callers with full access need no guard. */
export function createCallerApis(
  registry: SchemaRegistry,
  create: CreateApis,
): (rights: Rights) => CallerApi {
  const apis = new Map<string, CallerApi>();
  return remembered((rights: Rights) =>
    valueAt(apis, rightsKey(rights), () => createCallerApi(registry, rights, create)),
  );
}

function createCallerApi(registry: SchemaRegistry, rights: Rights, create: CreateApis): CallerApi {
  const visible = visibleRegistry(registry, rights);
  const isFull = rights.kind === 'full-access';
  const rules = isFull
    ? { mayExplain: true }
    : {
        // It also decides about `localizations`, which is not an attribute of the type.
        mayFind: (type: string) => mayFind(rights, type),
        mayReadDrafts: mayReadDrafts(rights),
      };
  const api = create(visible, rules, rightsKey(rights));
  const guarded = (apis: GuardedApis) => (isFull ? apis : guardApis(apis, rights, visible));
  return { rights, registry: visible, ...api, ...guarded(api), checkOnly: guarded(withoutWrites(api)) };
}
