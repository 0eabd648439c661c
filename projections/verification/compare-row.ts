import { valueAt } from '../../shared/map-values.ts';
import { componentStep } from '../../shared/read-index/component-step.ts';
import type { Neighbours } from '../../shared/read-index/document-index.ts';
import type {
  ComponentStep,
  FieldValues,
  IndexedComponent,
  IndexedRow,
  RowSet,
} from '../../shared/read-index/read-index.ts';
import { attributesWithComponents } from '../../shared/schema/component-uids.ts';
import type { Attribute, Model, Uid } from '../../shared/schema/content-type.ts';
import { componentOf, contentTypeOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { isContentType, localizationsAttribute } from '../../shared/schema/system-attributes.ts';

/**
 * Compares the expected and the found state of a row, with its links, in one world. Returns the names of differences (`missing`,
 * `unexpected`, `answer`, `name`, `address.street`, `city`), none if they are equal. It reads links with the same object for the same row
 * set at every call. Pure.
 */
export function createRowComparison(registry: SchemaRegistry) {
  const rowSetOf = createRowSetLookup();
  return (type: Uid, key: number, expected: Neighbours, found: Neighbours): readonly string[] => {
    const wanted = expected.row(type, key);
    const indexed = found.row(type, key);
    if (wanted === undefined) return indexed === undefined ? [] : ['unexpected'];
    if (indexed === undefined) return ['missing'];
    const model = contentTypeOf(registry, type);
    const differing = new Set<string>();
    const links = { expected, found, differing, registry, rowSetOf };
    compareIndexed(links, { model, type, path: [], key, wanted, indexed, prefix: '' });
    return [...differing];
  };
}

type Comparison = {
  readonly expected: Neighbours;
  readonly found: Neighbours;
  readonly differing: Set<string>;
  readonly registry: SchemaRegistry;
  readonly rowSetOf: (type: Uid, path: readonly ComponentStep[]) => RowSet;
};

type Pair = {
  readonly model: Model;
  readonly type: Uid;
  readonly path: readonly ComponentStep[];
  readonly key: number;
  readonly wanted: IndexedRow | IndexedComponent;
  readonly indexed: IndexedRow | IndexedComponent;
  readonly prefix: string;
};

function compareIndexed(comparison: Comparison, pair: Pair): void {
  const { differing } = comparison;
  const { wanted, indexed, prefix } = pair;
  if (Buffer.compare(wanted.source, indexed.source) !== 0) differing.add(`${prefix}answer`);
  for (const name of differingFields(wanted.fields, indexed.fields)) differing.add(prefix + name);
  compareLinks(comparison, pair);
  compareComponents(comparison, pair);
}

function differingFields(wanted: FieldValues, indexed: FieldValues): readonly string[] {
  // Attributes without a column are not compared.
  return Object.keys(indexed).filter((name) => comparable(wanted[name]) !== comparable(indexed[name]));
}

/** Returns a value in the form for comparisons. A column of booleans stores numbers. */
function comparable(value: FieldValues[string]): unknown {
  return typeof value === 'boolean' ? Number(value) : (value ?? null);
}

function compareLinks({ expected, found, differing, registry, rowSetOf }: Comparison, pair: Pair): void {
  const { model, type, path, key, prefix } = pair;
  const rowSet = rowSetOf(type, path);
  for (const name of relationNames(registry, model)) {
    const wanted = expected.linked(rowSet, key, name);
    const indexed = found.linked(rowSet, key, name);
    const isSame =
      wanted.length === indexed.length && wanted.every((link, at) => link.key === indexed[at]?.key);
    if (!isSame) differing.add(prefix + name);
  }
}

function relationNames(registry: SchemaRegistry, model: Model): readonly string[] {
  const names = [...model.attributes.values()].flatMap((attribute) =>
    attribute.kind === 'relation' && !attribute.private && hasOwner(registry, attribute)
      ? [attribute.name]
      : [],
  );
  const localizations = isContentType(model) ? localizationsAttribute(model) : undefined;
  return localizations === undefined ? names : [...names, localizations.name];
}

/** Returns false for the inverse side of a relation that its owner no longer has: a type without a file keeps its definition. */
function hasOwner(
  { contentTypes }: SchemaRegistry,
  { target, mappedBy }: Attribute & { readonly kind: 'relation' },
): boolean {
  const owner = contentTypes.get(target);
  return (
    owner !== undefined && (mappedBy === undefined || owner.attributes.get(mappedBy)?.kind === 'relation')
  );
}

function compareComponents(comparison: Comparison, pair: Pair): void {
  const { differing, registry } = comparison;
  const { model, type, path, prefix } = pair;
  for (const attribute of attributesWithComponents(model)) {
    if (attribute.private) continue;
    const { name } = attribute;
    const wanted = pair.wanted.components[name] ?? [];
    const indexed = pair.indexed.components[name] ?? [];
    const isSame =
      wanted.length === indexed.length &&
      wanted.every(
        ({ component, key }, at) => indexed[at]?.component === component && indexed[at].key === key,
      );
    if (!isSame) {
      differing.add(prefix + name);
      continue;
    }
    for (const [at, each] of wanted.entries()) {
      compareIndexed(comparison, {
        model: componentOf(registry, each.component),
        type,
        path: [...path, componentStep(attribute, each.component)],
        key: each.key,
        wanted: each,
        indexed: indexed[at] as IndexedComponent,
        prefix: `${prefix}${name}.`,
      });
    }
  }
}

/** Returns the same object for the same path, because reads of links use it as a key. */
function createRowSetLookup(): Comparison['rowSetOf'] {
  const rowSets = new Map<string, RowSet>();
  return (type, path) => {
    const name = [type, ...path.map((step) => `${step.attribute} ${step.zoneComponent ?? ''}`)].join('/');
    return valueAt(rowSets, name, () => ({ type, path }));
  };
}
