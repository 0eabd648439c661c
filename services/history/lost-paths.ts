import type { ComponentValue } from '../../shared/document/events.ts';
import { allowedComponents, uidOfComponent } from '../../shared/schema/component-uids.ts';
import type { Attribute, Model, Uid } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';

type Values = Readonly<Record<string, unknown>>;

/** Values of a row under the content types of one moment. */
export type TypedRow = {
  readonly registry: Pick<SchemaRegistry, 'components'>;
  readonly attributes: ReadonlyMap<string, Attribute>;
  readonly values: Values;
};

export type LostOptions = {
  readonly mayFind: (type: Uid) => boolean;
  readonly then: TypedRow;
  readonly now: TypedRow;
  readonly pathsOfNow: (path: string) => readonly string[];
};

/**
 * Returns the attributes, and those of components, with a value then that the row does not have under the content types of now, such as
 * `seo.note`. Omits what is private then or now, and links to what the caller may not find.
 */
export function lostPaths({ mayFind, then, now, pathsOfNow }: LostOptions): readonly string[] {
  const [before, after] = [countFilled(then), countFilled(now)];
  const lost = [...before].flatMap(([path, count]) => {
    const along = attributesAlong(then, path);
    const last = along.at(-1);
    if (along.some((each) => each.private) || (last?.kind === 'relation' && !mayFind(last.target))) return [];
    const later = pathsOfNow(path);
    if (later.some((each) => attributesAlong(now, each).some((attribute) => attribute.private))) return [];
    return Math.max(0, ...later.map((each) => after.get(each) ?? 0)) < count ? [path] : [];
  });
  const whole = lost.filter((path) => !lost.some((other) => path.startsWith(`${other}/`)));
  // Every second part of a path is the uid of a component.
  const names = whole.map((path) => path.split('/').filter((_, at) => at % 2 === 0));
  return [...new Set(names.map((parts) => parts.join('.')))].sort();
}

/** Counts values, links and components by path. */
function countFilled({ registry, attributes, values }: TypedRow): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const add = (path: string, count: number) => counts.set(path, (counts.get(path) ?? 0) + count);
  const visit = (inner: Model['attributes'], parts: Values, prefix: string) => {
    for (const attribute of inner.values()) {
      const path = prefix + attribute.name;
      const value = parts[attribute.name] ?? null;
      const list = [value ?? []].flat() as unknown as readonly ComponentValue[];
      if (attribute.kind === 'scalar') add(path, value === null ? 0 : 1);
      else add(path, list.length);
      if (attribute.kind !== 'component' && attribute.kind !== 'dynamiczone') continue;
      for (const part of list) {
        const uid = uidOfComponent(attribute, part);
        visit(registry.components.get(uid)?.attributes ?? new Map(), part, `${path}/${uid}/`);
      }
    }
  };
  visit(attributes, values, '');
  return counts;
}

/** Returns the attributes on the way to a path, as far as it exists. */
function attributesAlong(
  { registry, attributes }: Omit<TypedRow, 'values'>,
  path: string,
): readonly Attribute[] {
  const [name = '', uid, ...rest] = path.split('/');
  const attribute = attributes.get(name);
  if (attribute === undefined) return [];
  if (uid === undefined || !allowedComponents(attribute).includes(uid)) return [attribute];
  const inner = registry.components.get(uid)?.attributes ?? new Map();
  return [attribute, ...attributesAlong({ registry, attributes: inner }, rest.join('/'))];
}
