import type {
  Attribute,
  Model,
  RelationAttribute,
  RelationKind,
  ScalarAttribute,
  Uid,
} from './content-type.ts';
import { below, type ReportProblem } from './schema-problem.ts';
import type { SchemaRegistry } from './schema-registry.ts';

/** Kind of the other side of a relation. */
const INVERSE_KIND: Record<RelationKind, RelationKind> = {
  oneToOne: 'oneToOne',
  oneToMany: 'manyToOne',
  manyToOne: 'oneToMany',
  manyToMany: 'manyToMany',
};

/** Reports everything that a model's attributes name and the registry does not have. `report` starts at the model. */
export function checkReferences(model: Model, registry: SchemaRegistry, report: ReportProblem): void {
  for (const attribute of model.attributes.values()) {
    const reportHere = below(report, 'attributes', attribute.name);
    switch (attribute.kind) {
      case 'scalar':
        checkTargetField(attribute, model, reportHere);
        break;
      case 'relation':
        checkRelation(attribute, model.uid, registry, reportHere);
        break;
      case 'component':
        checkComponent(attribute.component, registry, below(reportHere, 'component'));
        break;
      case 'dynamiczone':
        for (const [at, component] of attribute.components.entries()) {
          checkComponent(component, registry, below(reportHere, 'components', at));
        }
        break;
    }
  }
}

function checkTargetField(attribute: ScalarAttribute, model: Model, report: ReportProblem): void {
  if (attribute.targetField === undefined) return;
  const target = model.attributes.get(attribute.targetField);
  if (target?.kind === 'scalar' && ['string', 'text', 'richtext', 'email'].includes(target.type)) return;
  report(['targetField'], `${model.uid} has no text attribute ${JSON.stringify(attribute.targetField)}`);
}

function checkComponent(component: Uid, registry: SchemaRegistry, report: ReportProblem): void {
  if (!registry.components.has(component)) report([], `component ${component} is not defined`);
}

function checkRelation(
  attribute: RelationAttribute,
  owner: Uid,
  registry: SchemaRegistry,
  report: ReportProblem,
): void {
  const target = registry.contentTypes.get(attribute.target);
  if (target === undefined) {
    report(['target'], `content type ${attribute.target} is not defined`);
    return;
  }
  for (const key of ['inversedBy', 'mappedBy'] as const) {
    const otherName = attribute[key];
    if (otherName === undefined) continue;
    const problem = otherSideProblem(attribute, key, target.attributes.get(otherName), owner);
    if (problem !== undefined) report([key], `${attribute.target} ${otherName}: ${problem}`);
  }
}

/** Returns why `other` is not the other side of `attribute`, a relation of `owner` that names it by `key`. */
function otherSideProblem(
  attribute: RelationAttribute,
  key: 'inversedBy' | 'mappedBy',
  other: Attribute | undefined,
  owner: Uid,
): string | undefined {
  if (other === undefined) return 'there is no such attribute';
  if (other.kind !== 'relation' || other.media !== undefined) return 'that attribute is not a relation';
  if (other.target !== owner) return `that relation is to ${other.target}, not to ${owner}`;
  const expected = INVERSE_KIND[attribute.relation];
  if (other.relation !== expected) {
    return `that relation is ${other.relation}, the other side of ${attribute.relation} is ${expected}`;
  }
  const answer = key === 'inversedBy' ? 'mappedBy' : 'inversedBy';
  if (other[answer] === attribute.name) return undefined;
  return `that relation has ${answer} ${JSON.stringify(other[answer]) ?? 'nowhere'}, expected ${JSON.stringify(attribute.name)}`;
}
