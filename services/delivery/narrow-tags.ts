import type { World } from '../../shared/read-index/read-index.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import { rememberedByName } from './remembered-by-name.ts';
import { type Equality, narrowTag, type Tag } from './tag.ts';

/** Tags that are remembered, of all content types together: callers choose the values. */
const MOST_KNOWN = 20_000;

/** Returns the tag of an attribute of the rows that an equality narrows. */
export type NarrowTags = (attribute: string) => Tag;

/** Creates narrowed tags that are remembered by value: a text that is made again has to be hashed again. A full memory begins again. */
export function createNarrowTags(
  make = narrowTag,
  most = MOST_KNOWN,
): (type: Uid, world: World, equality: Equality) => NarrowTags {
  let known = createMemory();
  let size = 0;
  return (type, world, equality) => {
    if (size >= most) {
      known = createMemory();
      size = 0;
    }
    const { field, value } = equality;
    const ofField = known(type, world, field);
    const tags = ofField.get(value) ?? new Map<string, Tag>();
    ofField.set(value, tags);
    return (attribute) => {
      const before = tags.get(attribute);
      if (before !== undefined) return before;
      const made = make(type, world, equality, attribute);
      tags.set(attribute, made);
      size++;
      return made;
    };
  };
}

/** Tags by the field that narrows, by its value and by attribute. */
function createMemory() {
  return rememberedByName(() => new Map<unknown, Map<string, Tag>>());
}
