import type { FastifyInstance, FastifyRequest } from 'fastify';
import { mayFind } from '../../../shared/access/rights.ts';
import { RequestError } from '../../../shared/request-error.ts';
import type { ContentType } from '../../../shared/schema/content-type.ts';
import { parseQueryString, type QueryValue } from '../../query/query-string.ts';
import { sendOwn } from '../api/cacheable.ts';
import type { CallerApi } from '../api/caller-apis.ts';
import { idOf, queryOf, register } from './entry-routes.ts';
import { presentComponent, presentedComponents, presentType } from './present-types.ts';
import { registerRights } from './rights-routes.ts';

/** Rights of the caller, and the content types that it sees. */
export type TypeReader = Pick<CallerApi, 'rights' | 'registry' | 'delivery'>;

const KINDS = ['collectionType', 'singleType'];

/**
 * Registers `GET /api/content-type-builder/{content-types,components}[/<uid>]`: definitions of the types that the caller may `find`. Types
 * are defined in files, so nothing writes them here. Also registers what the caller may do with them.
 */
export function registerTypes(app: FastifyInstance, readerOf: (request: FastifyRequest) => TypeReader): void {
  const typesOf = (request: FastifyRequest): readonly ContentType[] => {
    const { rights, registry } = readerOf(request);
    return [...registry.contentTypes.values()].filter(({ uid }) => mayFind(rights, uid));
  };
  const componentsOf = (request: FastifyRequest) =>
    presentedComponents(readerOf(request).registry, typesOf(request));
  const get = (path: string, dataOf: (request: FastifyRequest) => unknown) =>
    register(app, `/api/content-type-builder/${path}`, {
      GET: async (request, reply) => {
        const body = Buffer.from(JSON.stringify({ data: dataOf(request) }));
        sendOwn(readerOf(request).delivery, reply, body);
      },
    });
  get('content-types', (request) => {
    const { kind } = parseQueryString(queryOf(request));
    refuseOtherKinds(kind);
    return typesOf(request)
      .filter((type) => kind === undefined || type.kind === kind)
      .map(presentType);
  });
  get('content-types/:id', (request) => presentType(named(typesOf(request), idOf(request))));
  get('components', (request) => componentsOf(request).map(presentComponent));
  get('components/:id', (request) => presentComponent(named(componentsOf(request), idOf(request))));
  registerRights(app, readerOf);
}

function refuseOtherKinds(kind: QueryValue | undefined): void {
  if (kind === undefined || (typeof kind === 'string' && KINDS.includes(kind))) return;
  throw new RequestError('invalid-query', `kind must be one of ${KINDS.join(', ')}`, {
    param: 'kind',
    found: kind,
    accepted: KINDS,
  });
}

function named<Named extends { readonly uid: string }>(all: readonly Named[], uid: string): Named {
  const found = all.find((one) => one.uid === uid);
  if (found === undefined) throw new RequestError('not-found', 'Not Found');
  return found;
}
