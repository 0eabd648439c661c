import {
  mayAdminister,
  mayFind,
  mayReadDrafts,
  type Rights,
  rightsKey,
} from '../../../shared/access/rights.ts';
import { visibleRegistry } from '../../../shared/access/visible-registry.ts';
import { valueAt } from '../../../shared/map-values.ts';
import type { SchemaRegistry } from '../../../shared/schema/schema-registry.ts';
import type { InstantSearchApi } from '../../instant-search/instant-search-api.ts';
import type { CallerRules } from '../../query/plan-query.ts';
import type { Delivery } from './cacheable.ts';
import type { ContentApi } from './content-api.ts';
import { guardContentApi, guardUploadApi } from './guard-content-api.ts';
import type { UploadApi } from './upload-api.ts';
import { contentWithoutWrites, uploadsWithoutWrites } from './without-writes.ts';

/** API for callers with certain rights. */
export type CallerApi = {
  readonly rights: Rights;
  /** The content types as they see them. */
  readonly registry: SchemaRegistry;
  readonly content: ContentApi;
  readonly uploads: UploadApi;
  /** Algolia's protocol; what the caller may not find does not exist there. */
  readonly instant: InstantSearchApi;
  readonly delivery: Delivery;
  /** The same for a write that another process carries out: checks the caller's rights, then throws NotLeading. */
  readonly checkOnly: { readonly content: ContentApi; readonly uploads: UploadApi };
};

/** `rights`: the key of the caller's. */
type CreateApis = (
  registry: SchemaRegistry,
  rules: CallerRules,
  rights: string,
) => Pick<CallerApi, 'content' | 'uploads' | 'instant' | 'delivery'>;

/** APIs by rights, each made once: a request costs one look-up. With full access nothing is in front of the API itself. */
export function createCallerApis(
  registry: SchemaRegistry,
  create: CreateApis,
): (rights: Rights) => CallerApi {
  const apis = new Map<string, CallerApi>();
  const recent = new WeakMap<Rights, CallerApi>();
  const find = (rights: Rights): CallerApi => {
    const api = valueAt(apis, rightsKey(rights), () => createCallerApi(registry, rights, create));
    recent.set(rights, api);
    return api;
  };
  return (rights) => recent.get(rights) ?? find(rights);
}

function createCallerApi(registry: SchemaRegistry, rights: Rights, create: CreateApis): CallerApi {
  const visible = visibleRegistry(registry, rights);
  if (rights.kind === 'full-access') {
    const api = create(registry, { mayExplain: true }, rightsKey(rights));
    const checkOnly = {
      content: contentWithoutWrites(api.content),
      uploads: uploadsWithoutWrites(api.uploads),
    };
    return { rights, registry, ...api, checkOnly };
  }
  const seen = {
    // Includes the other locales of an entry, which are not an attribute of the type.
    mayFind: (type: string) => mayFind(rights, type),
    mayReadDrafts: mayReadDrafts(rights),
    mayExplain: mayAdminister(rights),
  };
  const { content, uploads, instant, delivery } = create(visible, seen, rightsKey(rights));
  return {
    rights,
    registry: visible,
    content: guardContentApi(content, rights, visible),
    uploads: guardUploadApi(uploads, rights),
    instant,
    delivery,
    checkOnly: {
      content: guardContentApi(contentWithoutWrites(content), rights, visible),
      uploads: guardUploadApi(uploadsWithoutWrites(uploads), rights),
    },
  };
}
