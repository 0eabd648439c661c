import type { Component, Uid } from './content-type.ts';

/** A component that another one contains. `path` is where the other's attributes name it. */
type Contained = { readonly path: readonly PropertyKey[]; readonly uid: Uid };

/**
 * Returns the places by which a component contains itself at some depth, each with the chain of components. Such a component is refused
 * even if the chain is optional. Every path below a content type that can contain a component is a separate row set. So a recursive
 * component would have infinitely many.
 */
export function componentCycles(components: ReadonlyMap<Uid, Component>, component: Component) {
  return directComponents(component).flatMap(({ path, uid }) => {
    const back = pathTo(components, uid, component.uid, new Set());
    return back === undefined ? [] : [{ path, chain: [component.uid, ...back] }];
  });
}

/** Returns the components on the path from `from` to `to`, including both; undefined if there is no path. */
function pathTo(
  components: ReadonlyMap<Uid, Component>,
  from: Uid,
  to: Uid,
  seen: Set<Uid>,
): readonly Uid[] | undefined {
  if (from === to) return [to];
  const component = components.get(from);
  if (component === undefined || seen.has(from)) return undefined;
  seen.add(from);
  for (const { uid } of directComponents(component)) {
    const rest = pathTo(components, uid, to, seen);
    if (rest !== undefined) return [from, ...rest];
  }
  return undefined;
}

function directComponents(component: Component): readonly Contained[] {
  return [...component.attributes.values()].flatMap((attribute): readonly Contained[] => {
    if (attribute.kind === 'component')
      return [{ path: [attribute.name, 'component'], uid: attribute.component }];
    if (attribute.kind !== 'dynamiczone') return [];
    return attribute.components.map((uid, at) => ({ path: [attribute.name, 'components', at], uid }));
  });
}
