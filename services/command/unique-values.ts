import type { ContentGraphReader, UniqueText } from '../../shared/document/entry.ts';
import type { EntryValues } from '../../shared/document/events.ts';
import {
  attributeOfUniquePath,
  type UniqueValue,
  uniquePaths,
  valuesAtPath,
} from '../../shared/document/unique-values.ts';
import type { ContentType, ScalarType } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { BodyProblem } from './problem.ts';

/** A value that no other document may show in the published world (SEMANTICS section 13: per locale; null and "" are free). */
export type UniqueClaim = UniqueText &
  UniqueValue & {
    /** True if the entry itself has the value twice. */
    readonly isRepeated: boolean;
  };

/** Types whose values Strapi does not compare, whatever the schema says. */
const NEVER_UNIQUE: ReadonlySet<ScalarType> = new Set(['enumeration', 'boolean', 'json', 'blocks']);

/** Returns the unique values that an entry claims, in each locale that shares the value of the attribute. */
export function uniqueClaims(
  registry: SchemaRegistry,
  type: ContentType,
  values: EntryValues,
  localesOf: (attribute: string) => readonly (string | null)[],
): UniqueClaim[] {
  return uniquePaths(registry, type).flatMap((place) => {
    if (NEVER_UNIQUE.has(place.attribute.type)) return [];
    const found = valuesAtPath(place, values);
    if (found.length === 0) return [];
    const counts = new Map<string, number>();
    for (const { text } of found) counts.set(text, (counts.get(text) ?? 0) + 1);
    const about = { type: type.uid, place: place.name };
    return localesOf(attributeOfUniquePath(place)).flatMap((locale) =>
      found.map((value) => ({ ...value, ...about, locale, isRepeated: counts.get(value.text) !== 1 })),
    );
  });
}

/** Returns the lock of a value. Its holder may check whether the value is free, and then claim it. */
export function claimKey({ type, place, locale, text }: UniqueClaim): string {
  return JSON.stringify(['unique', type, place, locale, text]);
}

/**
 * Returns one problem for each value that occurs twice: in the entry itself, in another document, or according to
 * `isTaken`.
 */
export function uniqueProblems(
  graph: Pick<ContentGraphReader, 'documentWithUnique'>,
  claims: readonly UniqueClaim[],
  documentId: string,
  isTaken: (claim: UniqueClaim) => boolean = () => false,
): BodyProblem[] {
  const refused = claims.filter(
    (claim) =>
      claim.isRepeated || isTaken(claim) || graph.documentWithUnique(claim, documentId) !== undefined,
  );
  // A value may be claimed in several locales.
  const values = new Map(refused.map((claim) => [claim.at, claim.value]));
  return [...values].map(([path, value]) => ({ path, message: 'This attribute must be unique', value }));
}
