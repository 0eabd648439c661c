import { isRecord } from '../../../shared/json-record.ts';
import type { SchemaRegistry } from '../../../shared/schema/schema-registry.ts';
import type { FoundCode } from '../../project/own-code.ts';

/** Returns whether Varve answers a path of Strapi's own router, such as `/articles/:id`. */
export function isServedPath({ contentTypes }: SchemaRegistry): (path: string) => boolean {
  const names = [...contentTypes.values()].map((type) =>
    type.kind === 'singleType' ? type.singularName : type.pluralName,
  );
  const served = new Set(names.flatMap((name) => [`/${name}`, `/${name}/:id`, `/${name}/:documentId`]));
  return (path) => served.has(path.replace(/\/$/, ''));
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
