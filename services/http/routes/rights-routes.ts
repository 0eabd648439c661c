import type { FastifyInstance, FastifyRequest } from 'fastify';
import { actionsOf, may, mayReadDrafts, mayReadHistory, type Rights } from '../../../shared/access/rights.ts';
import type { ContentType } from '../../../shared/schema/content-type.ts';
import type { CallerApi } from '../api/caller-apis.ts';
import { register } from './entry-routes.ts';
import { presentedComponents, presentHidden } from './present-types.ts';
import { sendData } from './send-data.ts';

/**
 * Registers `GET /_varve/rights`: what the caller of the request may do, so that a front end offers nothing that is then refused. `types` has
 * the actions by content type. `writeOnly` has the attributes that no answer has (passwords and private ones) of types that the caller may
 * write, and of their components.
 */
export function registerRights(
  app: FastifyInstance,
  readerOf: (request: FastifyRequest) => Pick<CallerApi, 'rights' | 'registry'>,
): void {
  register(app, '/_varve/rights', {
    GET: async (request, reply) => {
      const { rights, registry } = readerOf(request);
      const types = [...registry.contentTypes.values()];
      const written = types.filter((type) => !type.builtIn && mayWrite(rights, type));
      const models = [...written, ...presentedComponents(registry, written)];
      sendData(reply, {
        kind: rights.kind,
        drafts: mayReadDrafts(rights),
        history: mayReadHistory(rights),
        types: namedLists(types.map((type) => [type.uid, allowedOf(rights, type)])),
        writeOnly: Object.fromEntries(
          models
            .map((model) => [model.uid, presentHidden(model)] as const)
            .filter(([, hidden]) => Object.keys(hidden).length > 0),
        ),
      });
    },
  });
}

function allowedOf(rights: Rights, type: ContentType): readonly string[] {
  return actionsOf(type).filter((action) => may(rights, type.uid, action));
}

function mayWrite(rights: Rights, { uid }: ContentType): boolean {
  return may(rights, uid, 'create') || may(rights, uid, 'update');
}

function namedLists(all: readonly (readonly [string, readonly string[]])[]) {
  return Object.fromEntries(all.filter(([, list]) => list.length > 0));
}
