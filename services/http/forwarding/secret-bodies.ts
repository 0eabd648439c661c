import type { Model } from '../../../shared/schema/content-type.ts';
import { componentOf, type SchemaRegistry } from '../../../shared/schema/schema-registry.ts';
import { hmac } from '../../../shared/text-digest.ts';

/**
 * Returns a function that conceals passwords. The log has a digest of each body. For a body that may have a password the function returns
 * an HMAC, because a password could be guessed from a plain digest. It returns other bodies unchanged. `key`: the same in every process of
 * the log.
 */
export function createConcealBody(
  registry: SchemaRegistry,
  key: Uint8Array,
): (url: string, body: string) => string {
  const names = [...registry.contentTypes.values()]
    .filter((type) => hasPassword(registry, type, new Set()))
    .map(({ kind, singularName, pluralName }) => (kind === 'singleType' ? singularName : pluralName));
  const secret = new Set(names.map((name) => name.toLowerCase()));
  return (url, body) => {
    const [, name = ''] = /^\/api\/([^/?]+)/i.exec(url) ?? [];
    return secret.has(name.toLowerCase()) ? hmac(key, body).toString('hex') : body;
  };
}

/** `seen`: the models that were visited, because components may contain each other. */
function hasPassword(registry: SchemaRegistry, model: Model, seen: Set<Model>): boolean {
  if (seen.has(model)) return false;
  seen.add(model);
  return [...model.attributes.values()].some((attribute) => {
    switch (attribute.kind) {
      case 'scalar':
        return attribute.type === 'password';
      case 'component':
        return hasPassword(registry, componentOf(registry, attribute.component), seen);
      case 'dynamiczone':
        return attribute.components.some((uid) => hasPassword(registry, componentOf(registry, uid), seen));
      default:
        return false;
    }
  });
}
