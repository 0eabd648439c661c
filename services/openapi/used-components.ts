import type { OpenApiDocument } from './openapi-types.ts';

type Components = Pick<OpenApiDocument['components'], 'schemas' | 'responses'>;

const POINTER = /^#\/components\/(schemas|responses)\/(.+)$/;

/** Returns the components that `paths` reach by `$ref`, in the given order. A discriminator's mapping names no others. */
export function usedComponents(paths: OpenApiDocument['paths'], components: Components): Components {
  const used = { schemas: new Set<string>(), responses: new Set<string>() };
  const pending: unknown[] = [paths];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value !== 'object' || value === null) continue;
    pending.push(...Object.values(value));
    const [, kind, name = ''] = POINTER.exec(String((value as { readonly $ref?: unknown }).$ref)) ?? [];
    if ((kind !== 'schemas' && kind !== 'responses') || used[kind].has(name)) continue;
    used[kind].add(name);
    pending.push(components[kind][name]);
  }
  return {
    schemas: pick(components.schemas, used.schemas),
    responses: pick(components.responses, used.responses),
  };
}

function pick<Value>(
  values: Readonly<Record<string, Value>>,
  names: ReadonlySet<string>,
): Readonly<Record<string, Value>> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.has(name)));
}
