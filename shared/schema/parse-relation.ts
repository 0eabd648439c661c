import { defined } from '../defined.ts';
import type { RelationAttribute, RelationKind } from './content-type.ts';
import type { AttributeBase } from './parse-scalar.ts';
import type { RawRelation } from './schema-json.ts';
import type { ReportProblem } from './schema-problem.ts';

const RELATIONS = ['oneToOne', 'oneToMany', 'manyToOne', 'manyToMany'] as const satisfies RelationKind[];
const MORPH_RELATIONS = ['morphToOne', 'morphToMany', 'morphOne', 'morphMany'];

/** Parses a relation between two types. Returns undefined if Varve does not serve its kind. */
export function parseRelation(
  base: AttributeBase,
  raw: RawRelation,
  inComponent: boolean,
  report: ReportProblem,
): RelationAttribute | undefined {
  const relation = RELATIONS.find((known) => known === raw.relation);
  if (relation === undefined) {
    const morph = MORPH_RELATIONS.includes(raw.relation);
    const reason = morph
      ? 'polymorphic relations are not served'
      : `unknown relation ${JSON.stringify(raw.relation)}`;
    report(['relation'], `${reason}, expected one of ${RELATIONS.join(', ')}`);
    return undefined;
  }
  if (raw.target === undefined) {
    report(['target'], 'a relation needs a target, such as "api::tag.tag"');
    return undefined;
  }
  reportWrongSide(relation, raw, inComponent, report);
  return {
    ...base,
    kind: 'relation',
    relation,
    target: raw.target,
    toMany: relation === 'oneToMany' || relation === 'manyToMany',
    ...defined({ inversedBy: raw.inversedBy, mappedBy: raw.mappedBy }),
  };
}

/** Reports a side that may not own a two-sided relation. By Strapi's rule it is the many side of a one-to-many. */
function reportWrongSide(
  relation: RelationKind,
  raw: RawRelation,
  inComponent: boolean,
  report: ReportProblem,
): void {
  const { inversedBy, mappedBy } = raw;
  if (inComponent) {
    if (inversedBy !== undefined) report(['inversedBy'], 'a relation in a component has no inverse side');
    if (mappedBy !== undefined) report(['mappedBy'], 'a relation in a component has no inverse side');
    return;
  }
  if (inversedBy !== undefined && mappedBy !== undefined) {
    report(['mappedBy'], 'a relation has inversedBy on its owning side or mappedBy on the other, not both');
  }
  if (relation === 'oneToMany' && inversedBy !== undefined) {
    report(
      ['inversedBy'],
      'the manyToOne side owns this relation: expected mappedBy here and inversedBy there',
    );
  }
  if (relation === 'manyToOne' && mappedBy !== undefined) {
    report(
      ['mappedBy'],
      'the manyToOne side owns this relation: expected inversedBy here and mappedBy there',
    );
  }
}
