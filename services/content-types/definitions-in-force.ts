import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import {
  type DefinitionText,
  notInForce,
  type TypeDefinition,
} from '../../shared/schema/type-definitions.ts';

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
