import type { Component, Uid } from './content-type.ts';

/** A component that holds itself, and the chain of attributes by which it does. */
export type ComponentCycle = {
  readonly component: Uid;
  readonly attribute: string;
  readonly chain: readonly Uid[];
};

/**
 * Every component that holds itself at some depth. Refused even where the chain is optional: every place
 * below a content type that can hold a component is a row space of its own, so a recursive one would have no end of them.
 */
export function componentCycles(components: ReadonlyMap<Uid, Component>): ComponentCycle[] {
  return [...components.values()].flatMap((component) =>
    heldComponents(component).flatMap(({ attribute, uid }) => {
      const back = pathTo(components, uid, component.uid, new Set());
      return back === undefined
        ? []
        : [{ component: component.uid, attribute, chain: [component.uid, ...back] }];
    }),
  );
}

/** The components on the way from `from` to `to`, both included; undefined when there is none. */
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
  for (const { uid } of heldComponents(component)) {
    const rest = pathTo(components, uid, to, seen);
    if (rest !== undefined) return [from, ...rest];
  }
  return undefined;
}

function heldComponents(component: Component): { attribute: string; uid: Uid }[] {
  return [...component.attributes.values()].flatMap((attribute) =>
    attribute.kind === 'component' ? [{ attribute: attribute.name, uid: attribute.component }] : [],
  );
}
