import { modelOfDefinition, type TypeDefinition } from '../../../shared/schema/type-definitions.ts';
import type { ModelChange } from './convert-values.ts';

/** Returns a content type before and after a change, each with the components of its own definition. */
export function changeOf(before: TypeDefinition, now: TypeDefinition): ModelChange {
  return { before: modelOfDefinition(before), now: modelOfDefinition(now) };
}
