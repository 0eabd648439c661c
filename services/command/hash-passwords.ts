import { isRecord } from '../../shared/json-record.ts';
import { plainText } from '../../shared/plain-text.ts';
import type { Model } from '../../shared/schema/content-type.ts';
import { componentOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { hashPassword, type PasswordScheme } from './password-hashes.ts';

/** Limit of bcrypt and of Strapi's column. The validation refuses longer passwords, so they need no hash. */
const MAX_LENGTH = 255;

/**
 * Returns the hash of every password in a body, by its clear text. They are computed before any lock, so that no command waits for them.
 * Resolves at once if the model has no password.
 */
export async function hashPasswords(
  registry: SchemaRegistry,
  model: Model,
  data: unknown,
  scheme: PasswordScheme = 'argon2',
): Promise<ReadonlyMap<string, string>> {
  const clear = new Set(passwordsIn(registry, model, data));
  if (clear.size === 0) return NONE;
  return new Map(
    await Promise.all([...clear].map(async (text) => [text, await hashPassword(text, scheme)] as const)),
  );
}

const NONE: ReadonlyMap<string, string> = new Map();

function passwordsIn(registry: SchemaRegistry, model: Model, data: unknown): string[] {
  if (!isRecord(data)) return [];
  return Object.entries(data).flatMap(([name, value]) => {
    const attribute = model.attributes.get(name);
    switch (attribute?.kind) {
      case 'scalar':
        if (attribute.type !== 'password' || typeof value !== 'string') return [];
        return value.length <= MAX_LENGTH ? [value] : [];
      case 'component':
        return [value]
          .flat()
          .flatMap((item) => passwordsIn(registry, componentOf(registry, attribute.component), item));
      case 'dynamiczone':
        return [value].flat().flatMap((item) => {
          const component = registry.components.get(isRecord(item) ? plainText(item['__component']) : '');
          return component === undefined ? [] : passwordsIn(registry, component, item);
        });
      default:
        return [];
    }
  });
}
