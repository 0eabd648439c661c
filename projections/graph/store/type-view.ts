import { lookUpPaths, type UniquePath } from '../../../shared/document/unique-values.ts';
import { valueAt } from '../../../shared/map-values.ts';
import { componentStep } from '../../../shared/read-index/component-step.ts';
import type { RowSet } from '../../../shared/read-index/read-index.ts';
import {
  type AttributeWithComponents,
  allowedComponents,
  attributesWithComponents,
} from '../../../shared/schema/component-uids.ts';
import type { ContentType, Model, Uid } from '../../../shared/schema/content-type.ts';
import { relationSide, type SchemaRegistry } from '../../../shared/schema/schema-registry.ts';
import type { Names } from './entry-names.ts';
import {
  createGraphRelation,
  type GraphRelation,
  type GraphRelationSide,
  relationName,
} from './graph-relation.ts';
import { createRowPresenter, type RowPresenter } from './present-row.ts';
import { DRAFT, UNVERSIONED, type VersionNumber } from './row-keys.ts';

/** Properties of a content type that the graph needs at every event, computed once per definition. */
export type TypeView = {
  readonly number: number;
  readonly uid: Uid;
  readonly type: ContentType;
  readonly draftAndPublish: boolean;
  readonly localized: boolean;
  /** Version that is edited: draft, or the only one without draft & publish. */
  readonly edited: VersionNumber;
  readonly presenter: RowPresenter;
  /** Private scalars. */
  readonly hidden: readonly string[];
  readonly bearers: readonly AttributeWithComponents[];
  readonly bearerNames: readonly string[];
  /** Names of attributes that all locales of a document share; empty without i18n. */
  readonly shared: readonly string[];
  readonly unique: readonly { readonly number: number; readonly place: UniquePath }[];
  /** Returns the relation of one of the type's own relation attributes. */
  relation(attribute: string): GraphRelationSide;
};

/** The registry in force, as the graph uses it. */
export type SchemaView = {
  readonly registry: SchemaRegistry;
  type(uid: Uid): TypeView;
  /** Returns undefined for a type that is not defined. */
  findType(uid: Uid): TypeView | undefined;
  typeOfNumber(number: number): TypeView;
  /** Returns a relation by its owning side. */
  relation(rowSet: RowSet, attribute: string): GraphRelation;
  /** undefined: the relation is no longer defined. */
  relationOfNumber(number: number): GraphRelation | undefined;
};

/** Creates views of all types of a registry. `names` numbers new types and relations, so it must run in a transaction of the graph. */
export function createSchemaView(registry: SchemaRegistry, names: Names): SchemaView {
  const types = new Map<Uid, TypeView>();
  const typesByNumber = new Map<number, TypeView>();
  const relations = new Map<string, GraphRelation>();
  const relationsByNumber = new Map<number, GraphRelation>();

  const relation: SchemaView['relation'] = (rowSet, attribute) => {
    const known = relations.get(relationName(rowSet.type, rowSet.path, attribute));
    if (known === undefined) throw new Error(`${rowSet.type} has no relation ${attribute} at that path`);
    return known;
  };
  const register: RegisterRelation = (rowSet, owner) => {
    const name = relationName(rowSet.type, rowSet.path, owner.attribute.name);
    const numbers = { relation: names.number(name), target: names.number(owner.attribute.target) };
    const created = createGraphRelation(registry, rowSet, owner, numbers);
    relations.set(name, created);
    relationsByNumber.set(created.id, created);
  };

  for (const type of registry.contentTypes.values()) {
    const view = createTypeView(registry, type, names, relation);
    types.set(type.uid, view);
    typesByNumber.set(view.number, view);
    registerRelations(
      registry,
      { rowSet: { type: type.uid, path: [] }, model: type, served: true },
      register,
    );
  }
  return {
    registry,
    type: (uid) => types.get(uid) ?? undefinedType(uid),
    findType: (uid) => types.get(uid),
    typeOfNumber: (number) => typesByNumber.get(number) ?? undefinedType(String(number)),
    relation,
    relationOfNumber: (number) => relationsByNumber.get(number),
  };
}

function undefinedType(uid: string): never {
  throw new Error(`content type ${uid} is not defined`);
}

type RegisterRelation = (rowSet: RowSet, owner: Parameters<typeof createGraphRelation>[2]) => void;

/** A model whose rows own relations. `served`: whether readers see them. */
type RelationOwner = { readonly rowSet: RowSet; readonly model: Model; readonly served: boolean };

/**
 * Registers every relation that a row of the row set can own, also in its components. It ends, because components cannot contain
 * themselves.
 */
function registerRelations(
  registry: SchemaRegistry,
  { rowSet, model, served }: RelationOwner,
  register: RegisterRelation,
): void {
  const owner = rowSet.path.length === 0 ? undefined : model.uid;
  for (const attribute of model.attributes.values()) {
    if (attribute.kind === 'relation' && attribute.mappedBy === undefined) {
      // While the definitions of one start are applied, a target may still be missing.
      if (registry.contentTypes.has(attribute.target))
        register(rowSet, { component: owner, attribute, served });
    }
    for (const uid of allowedComponents(attribute)) {
      const component = registry.components.get(uid);
      if (component === undefined) continue;
      const inner = { type: rowSet.type, path: [...rowSet.path, componentStep(attribute, uid)] };
      const owned = { rowSet: inner, model: component, served: served && !attribute.private };
      registerRelations(registry, owned, register);
    }
  }
}

function createTypeView(
  registry: SchemaRegistry,
  type: ContentType,
  names: Names,
  relation: SchemaView['relation'],
): TypeView {
  const sides = new Map<string, GraphRelationSide>();
  const unique = lookUpPaths(registry, type).map((place) => ({
    number: names.number(JSON.stringify([type.uid, 'unique', place.name])),
    place,
  }));
  const attributes = [...type.attributes.values()];
  const bearers = attributesWithComponents(type);
  return {
    number: names.number(type.uid),
    uid: type.uid,
    type,
    draftAndPublish: type.draftAndPublish,
    localized: type.localized,
    edited: type.draftAndPublish ? DRAFT : UNVERSIONED,
    presenter: createRowPresenter(registry, type),
    hidden: attributes.filter((each) => each.kind === 'scalar' && each.private).map(({ name }) => name),
    bearers,
    bearerNames: bearers.map(({ name }) => name),
    shared: type.localized ? attributes.filter((each) => !each.localized).map(({ name }) => name) : [],
    unique,
    relation: (name) => valueAt(sides, name, () => resolveSide(type, name, relation)),
  };
}

function resolveSide(type: ContentType, name: string, relation: SchemaView['relation']): GraphRelationSide {
  const attribute = type.attributes.get(name);
  if (attribute?.kind !== 'relation') throw new Error(`${type.uid} has no relation ${name}`);
  const { ownerType, ownerAttribute, side } = relationSide(type.uid, attribute);
  return { relation: relation({ type: ownerType, path: [] }, ownerAttribute), side };
}
