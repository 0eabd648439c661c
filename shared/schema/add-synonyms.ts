import { z } from 'zod';
import type { SynonymGroups } from './content-type.ts';
import type { SchemaRegistry } from './schema-registry.ts';
import { SYNONYM_GROUPS } from './search-options.ts';

/** Synonyms of an installation, by uid of the content type and locale; `*` means every type, or every locale. */
export const SYNONYMS = z.record(z.string(), SYNONYM_GROUPS);

export type InstalledSynonyms = Readonly<Record<string, SynonymGroups>>;

/** Name of all content types in synonyms. */
export const EVERY_TYPE = '*';

/** Returns the content types that `synonyms` names and the registry does not have. */
export function unknownTypes(
  { contentTypes }: SchemaRegistry,
  synonyms: InstalledSynonyms,
): readonly string[] {
  return Object.keys(synonyms).filter((uid) => uid !== EVERY_TYPE && !contentTypes.has(uid));
}

/** Adds the synonyms of the installation to those of the schemas. */
export function addSynonyms(registry: SchemaRegistry, synonyms: InstalledSynonyms): SchemaRegistry {
  if (Object.keys(synonyms).length === 0) return registry;
  const ofEvery = synonyms[EVERY_TYPE];
  const contentTypes = [...registry.contentTypes].map(([uid, type]) => {
    const added = [ofEvery, synonyms[uid]].filter((groups) => groups !== undefined);
    return [uid, added.length === 0 ? type : { ...type, synonyms: joinGroups(added) }] as const;
  });
  return { ...registry, contentTypes: new Map(contentTypes) };
}

function joinGroups(all: readonly SynonymGroups[]): SynonymGroups {
  const locales = new Set(all.flatMap((groups) => Object.keys(groups)));
  return Object.fromEntries(
    [...locales].map((locale) => [locale, all.flatMap((groups) => groups[locale] ?? [])]),
  );
}
