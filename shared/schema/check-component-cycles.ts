import type { Component, Uid } from './content-type.ts';

/**
 * Returns the attributes by which a component contains itself at some depth, each with the chain of components. Such a component is refused
 * even if the chain is optional. Every path below a content type that can contain a component is a separate row set. So a recursive
 * component would have infinitely many.
 */
export function componentCycles(components: ReadonlyMap<Uid, Component>, component: Component) {
  return directComponents(component).flatMap(({ attribute, uid }) => {
    const back = pathTo(components, uid, component.uid, new Set());
    return back === undefined ? [] : [{ attribute, chain: [component.uid, ...back] }];
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

function directComponents(component: Component): { attribute: string; uid: Uid }[] {
  return [...component.attributes.values()].flatMap((attribute) =>
    attribute.kind === 'component' ? [{ attribute: attribute.name, uid: attribute.component }] : [],
  );
}
