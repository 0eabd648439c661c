import type { FastifyInstance, FastifyRequest, HTTPMethods } from 'fastify';
import { RequestError } from '../../../shared/request-error.ts';

/** A path below `/api` that code of the followed project answers in Strapi, and the file that says so. */
export type ProjectRoute = { readonly path: string; readonly file: string };

/** Matches paths of literal segments and `:parameters`. */
const PLAIN = /^(?:\/(?::\w+|[\w.~-]+))+$/;

/**
 * Returns a plugin that refuses the paths of a project's own code with the reason. Call this before other routes are registered, and register
 * the plugin after them: a path that Varve serves itself is not refused.
 */
export function refuseProjectRoutes(app: FastifyInstance, routes: readonly ProjectRoute[]) {
  const served = new Set<string>();
  app.addHook('onRoute', ({ url }) => void served.add(routeShape(url)));
  return async (scope: FastifyInstance): Promise<void> => register(scope, routes, new Set(served));
}

function register(app: FastifyInstance, routes: readonly ProjectRoute[], taken: Set<string>): void {
  for (const { path, file } of routes) {
    const url = `/api${path.replace(/\([^()]*\)|[?*+]/g, '').replace(/\/$/, '')}`;
    const shape = routeShape(url);
    if (!PLAIN.test(url) || taken.has(shape)) continue;
    taken.add(shape);
    const refuse = async (_request: FastifyRequest): Promise<never> => {
      throw new RequestError('project-code', reasonOf(path, file));
    };
    app.route({ method: app.supportedMethods as HTTPMethods[], url, onRequest: refuse, handler: refuse });
  }
}

/** Returns a route's path with one name for all parameters. */
function routeShape(url: string): string {
  return url.toLowerCase().replace(/:\w+/g, ':');
}

function reasonOf(path: string, file: string): string {
  return `${path} is a route of the project's own code in src/${file}, which Varve does not run: see docs/moving-from-strapi.md`;
}
