import { isRecord } from '../../../shared/json-record.ts';
import type { SchemaRegistry } from '../../../shared/schema/schema-registry.ts';
import type { FoundCode } from '../../project/own-code.ts';
import type { OwnRoute } from '../../project/own-routes.ts';

/** Returns whether Varve answers a route of Strapi's own router, such as `GET /articles/:id`. */
export function isServedRoute({ contentTypes }: SchemaRegistry): (route: OwnRoute) => boolean {
  const served = new Set(
    [...contentTypes.values()].flatMap(({ kind, singularName, pluralName }) =>
      kind === 'singleType'
        ? routesOf(`/${singularName}`, ['GET', 'PUT', 'DELETE'])
        : [
            ...routesOf(`/${pluralName}`, ['GET', 'POST']),
            ...routesOf(`/${pluralName}/:id`, ['GET', 'PUT', 'DELETE']),
            ...routesOf(`/${pluralName}/:documentId`, ['GET', 'PUT', 'DELETE']),
          ],
    ),
  );
  return ({ method, path }) => served.has(`${method} ${path.replace(/\/$/, '')}`);
}

function routesOf(path: string, methods: readonly string[]): readonly string[] {
  return methods.map((method) => `${method} ${path}`);
}

/** Returns one line for each kind of code that Varve does not run, and the default populates to paste. */
export function codeLines({ kinds, populates }: FoundCode, registry: SchemaRegistry): readonly string[] {
  const lines = kinds.map(({ kind, files: [first, ...more], advice }) => {
    const others = more.length === 0 ? '' : ` and ${more.length} more file${more.length === 1 ? '' : 's'}`;
    return `${kind} in src/${first}${others}: ${advice}`;
  });
  const pasted = populates.flatMap(({ type, defaultPopulate, file }) => {
    const known = registry.contentTypes.get(type);
    if (known === undefined || (isRecord(known.varve) && 'defaultPopulate' in known.varve)) return [];
    const options = JSON.stringify({ pluginOptions: { varve: { defaultPopulate } } });
    return [`instead of src/${file}, paste into the schema.json of ${type}: ${options.slice(1, -1)}`];
  });
  return [...lines, ...pasted];
}
