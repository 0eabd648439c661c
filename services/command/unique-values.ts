import type { ContentGraphReader } from '../../shared/document/entry.ts';
import type { EntryValues } from '../../shared/document/events.ts';
import type { ContentType, Uid } from '../../shared/schema/content-type.ts';
import type { Problem } from './problem.ts';

/** A value that no other document may show in the published world (SEMANTICS section 13: per locale; null and "" are free). */
export type UniqueClaim = {
  readonly type: Uid;
  readonly attribute: string;
  readonly locale: string | null;
  /** Text form. */
  readonly value: string;
  /** As sent, for the error's details. */
  readonly sent: unknown;
};

/** What an entry of these values claims in each of `locales`. `uid` attributes are unique whatever the schema says. */
export function uniqueClaims(
  type: ContentType,
  values: EntryValues,
  localesOf: (attribute: string) => readonly (string | null)[],
): UniqueClaim[] {
  const claims: UniqueClaim[] = [];
  for (const attribute of type.attributes.values()) {
    if (attribute.kind !== 'scalar' || !(attribute.unique || attribute.type === 'uid')) continue;
    const sent = values[attribute.name];
    if (sent === undefined || sent === null || sent === '') continue;
    const value = String(sent);
    for (const locale of localesOf(attribute.name)) {
      claims.push({ type: type.uid, attribute: attribute.name, locale, value, sent });
    }
  }
  return claims;
}

/** Whoever holds this lock may look whether the value is free and then take it. */
export function claimKey({ type, attribute, locale, value }: UniqueClaim): string {
  return JSON.stringify(['unique', type, attribute, locale, value]);
}

/** One problem for each attribute whose value another document has. */
export function uniqueProblems(
  graph: ContentGraphReader,
  claims: readonly UniqueClaim[],
  documentId: string,
): Problem[] {
  const taken = claims.filter(
    ({ type, attribute, locale, value }) =>
      graph.documentWithUnique(type, attribute, locale, value, documentId) !== undefined,
  );
  const attributes = new Map(taken.map((claim) => [claim.attribute, claim]));
  return [...attributes.values()].map(({ attribute, sent }) => ({
    path: attribute,
    message: 'This attribute must be unique',
    value: sent,
  }));
}
