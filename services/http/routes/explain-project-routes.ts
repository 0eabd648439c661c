import type { FastifyInstance } from 'fastify';
import { RequestError } from '../../../shared/request-error.ts';
import { presentError } from '../answers/error-envelope.ts';
import { JSON_HEADERS, METHOD_NOT_ALLOWED } from '../answers/responses.ts';

/** A path below `/api` that code of the followed project answers in Strapi, and the file that says so. */
export type ProjectRoute = { readonly method: string; readonly path: string; readonly file: string };

const NOT_FOUND = JSON.stringify(presentError(new RequestError('not-found', 'Not Found')));
const REFUSALS: ReadonlySet<unknown> = new Set([NOT_FOUND, METHOD_NOT_ALLOWED]);

/**
 * Gives the reason where a path of a project's own code would be a bare 404 or 405. If Varve serves the same path, such as that of one
 * entry, the method must be that of the project's route. Answers with content stay as they are, also those of a followed Strapi.
 */
export function explainProjectRoutes(app: FastifyInstance, routes: readonly ProjectRoute[]): void {
  const known = routes.flatMap((route) => {
    const pattern = patternOf(route.path);
    return pattern === undefined ? [] : [{ ...route, pattern, shape: shapeOf(`/api${route.path}`) }];
  });
  if (known.length === 0) return;
  app.addHook('onSend', async (request, reply, payload) => {
    if (reply.statusCode < 400 || !REFUSALS.has(payload)) return payload;
    const [path = ''] = request.url.split('?', 1);
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const own = shapeOf(request.routeOptions.url ?? '');
    const route = known.find(
      (each) => each.pattern.test(path) && (each.method === method || each.shape !== own),
    );
    if (route === undefined) return payload;
    const body = presentError(new RequestError('project-code', reasonOf(route)));
    reply.code(body.error.status).removeHeader('allow').removeHeader('content-length').headers(JSON_HEADERS);
    return JSON.stringify(body);
  });
}

/** Matches a segment of a path, with its slash. Expressions of parameters may contain slashes. */
const SEGMENT = /\/(?:\([^()]*\)|[^/()])*/g;
/** Matches a parameter: its name or expression or both, and a modifier. */
const PARAMETER = /(?::\w+(?:\(([^()]*)\))?|\(([^()]*)\)|(?=\*))([?*+]?)/;

/**
 * Returns the expression for the path of a route in the syntax of Strapi's router: `:name`, `:name(expression)`, `(.*)`, and the modifiers
 * `?`, `*` and `+`. The project's own expressions are not run: they match any text. undefined for a path with several wildcards, whose
 * expression could be slow.
 */
function patternOf(path: string): RegExp | undefined {
  const segments = (path.match(SEGMENT) ?? []).map(segmentPattern);
  if (segments.filter((pattern) => pattern.includes('.*')).length > 1) return undefined;
  return new RegExp(`^/api${segments.join('')}/?$`, 'i');
}

function segmentPattern(segment: string): string {
  const found = PARAMETER.exec(segment);
  if (found === null) return escaped(segment);
  const [parameter, expression = '', alone = '', modifier] = found;
  const before = segment.slice(0, found.index);
  const rest = segment.slice(found.index + parameter.length);
  // A segment with several parameters matches any text after the first literal: the expression stays linear.
  const after = PARAMETER.test(rest) ? '' : escaped(rest);
  if (modifier === '*' || modifier === '+' || /\.[*+]/.test(expression + alone))
    return modifier === '*' && before === '/' ? `(?:/.*)?${after}` : `${escaped(before)}.*${after}`;
  const one = `${escaped(before)}[^/]+${after}`;
  return modifier === '?' && before === '/' ? `(?:${one})?` : one;
}

/** Returns a route's path with one name for all parameters. */
function shapeOf(path: string): string {
  return path.toLowerCase().replace(/:\w+/g, ':');
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function reasonOf({ path, file }: ProjectRoute): string {
  return `${path} is a route of the project's own code in src/${file}, which Varve does not run: see docs/moving-from-strapi.md`;
}
