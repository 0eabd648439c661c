import { assertNever } from '../../../assert-never.ts';
import type { PlacedScalar } from './document-layout.ts';

/** Kinds of fields that columns can share, because their mappings are equal. */
type SlotKind = 'text' | 'big' | 'whole' | 'double' | 'links';

/**
 * Names for the fields of an item in a shared list. Components with equal kinds of columns use equal names, so the number of fields
 * depends on the largest component, not on the number of components.
 */
export type Slots = {
  /** Returns the name for the next column. */
  ofScalar(scalar: Pick<PlacedScalar, 'type' | 'fieldType'>): string;
  /** Returns the name for the keys of the next relation. */
  ofRelation(): string;
};

/** Creates the names of one item. */
export function createSlots(): Slots {
  const taken = new Map<SlotKind, number>();
  const next = (kind: SlotKind) => {
    const number = taken.get(kind) ?? 0;
    taken.set(kind, number + 1);
    return `${kind}${number}`;
  };
  return { ofScalar: (scalar) => next(slotKind(scalar)), ofRelation: () => next('links') };
}

function slotKind({ type, fieldType }: Pick<PlacedScalar, 'type' | 'fieldType'>): SlotKind {
  switch (fieldType) {
    case 'keyword':
    case 'json':
      return 'text';
    case 'long':
      return 'big';
    case 'number':
      return type === 'integer' ? 'whole' : 'double';
    case 'boolean':
    case 'time-of-day':
    case 'instant':
      return 'whole';
    default:
      return assertNever(fieldType);
  }
}
