import type { FastifyInstance, FastifyRequest } from 'fastify';
import { mayFind } from '../../../shared/access/rights.ts';
import { RequestError } from '../../../shared/request-error.ts';
import type { ContentType } from '../../../shared/schema/content-type.ts';
import { parseQueryString, type QueryValue } from '../../query/query-string.ts';
import { sendOwn } from '../api/cacheable.ts';
import type { CallerApi } from '../api/caller-apis.ts';
import { idOf, queryOf, register } from './entry-routes.ts';
import { presentComponent, presentedComponents, presentType } from './present-types.ts';

/** Rights of the caller, and the content types that it sees. */
export type TypeReader = Pick<CallerApi, 'rights' | 'registry' | 'delivery'>;

const KINDS = ['collectionType', 'singleType'];

/**
 * `GET /api/content-type-builder/{content-types,components}[/<uid>]`: the types that the caller may `find`, and their
 * definitions. Read-only: types are files.
 */
export function registerTypes(app: FastifyInstance, readerOf: (request: FastifyRequest) => TypeReader): void {
  const typesOf = (request: FastifyRequest): readonly ContentType[] => {
    const { rights, registry } = readerOf(request);
    return [...registry.contentTypes.values()].filter(({ uid }) => mayFind(rights, uid));
  };
  const componentsOf = (request: FastifyRequest) =>
    presentedComponents(readerOf(request).registry, typesOf(request));
  const path = '/api/content-type-builder';
  register(app, `${path}/content-types`, {
    GET: async (request, reply) => {
      const { kind } = parseQueryString(queryOf(request));
      refuseOtherKinds(kind);
      const types = typesOf(request).filter((type) => kind === undefined || type.kind === kind);
      sendOwn(readerOf(request).delivery, reply, json(types.map(presentType)));
    },
  });
  register(app, `${path}/content-types/:id`, {
    GET: async (request, reply) =>
      sendOwn(readerOf(request).delivery, reply, json(presentType(named(typesOf(request), idOf(request))))),
  });
  register(app, `${path}/components`, {
    GET: async (request, reply) =>
      sendOwn(readerOf(request).delivery, reply, json(componentsOf(request).map(presentComponent))),
  });
  register(app, `${path}/components/:id`, {
    GET: async (request, reply) =>
      sendOwn(
        readerOf(request).delivery,
        reply,
        json(presentComponent(named(componentsOf(request), idOf(request)))),
      ),
  });
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

function json(data: unknown): Buffer {
  return Buffer.from(JSON.stringify({ data }));
}
