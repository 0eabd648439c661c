import type { SchemaRegistry } from './schema-registry.ts';
import type { InstalledRules } from './search-rules.ts';

/** Gives each content type its rules. */
export function addRules(registry: SchemaRegistry, rules: InstalledRules): SchemaRegistry {
  if (Object.keys(rules).length === 0) return registry;
  const contentTypes = [...registry.contentTypes].map(([uid, type]) => {
    const own = rules[uid];
    return [uid, own === undefined ? type : { ...type, rules: own }] as const;
  });
  return { ...registry, contentTypes: new Map(contentTypes) };
}
