import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { epochAfter, isFenced } from '../../shared/fleet/fence.ts';
import {
  type DefinitionText,
  notInForce,
  type TypeDefinition,
} from '../../shared/schema/type-definitions.ts';

export type Redefined = { readonly now: TypeDefinition; readonly before: string | undefined };

/**
 * Tracks the definitions in force along the log: for each type the newest definition that no claim has fenced off. `epoch` is that of the
 * newest claim before the first event. `known` returns the definitions in force there.
 */
export function trackDefinitions(epoch: number, known: DefinitionText = () => undefined) {
  const defined = new Map<string, string>();
  const text: DefinitionText = (uid) => defined.get(uid) ?? known(uid);
  let newest = epoch;
  return {
    /** Applies the next event. Returns the definition that it brings into force, if any, and the text of the previous one. */
    apply(event: StoredEvent): Redefined | undefined {
      newest = epochAfter(newest, event);
      if (!isDefinition(event) || isFenced(event, newest)) return undefined;
      const now = event.data as TypeDefinition;
      const before = text(now.uid);
      defined.set(now.uid, JSON.stringify(now));
      return { now, before };
    },
    text,
  };
}

/** Returns whether an event defines a content type, and this program can read it. */
export function isDefinition({ type, unreadable }: StoredEvent): boolean {
  return type === 'content-type-defined' && unreadable === undefined;
}

/** Returns the names of the content types whose definitions are not in force. */
export function typesNotInForce(
  definitions: readonly TypeDefinition[],
  inForce: DefinitionText,
): readonly string[] {
  return notInForce(definitions, inForce).map(({ uid }) => uid);
}
