import { valueAt } from '../../shared/map-values.ts';
import type { World } from '../../shared/read-index/read-index.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import { rememberedByName } from './remembered-by-name.ts';
import { type Equality, narrowTag, type Tag } from './tag.ts';

/** Maximum number of remembered tags of all content types. It is limited, because callers choose the values. */
const MOST_KNOWN = 20_000;

/** Returns the tag of an attribute of the rows that an equality narrows. */
export type NarrowTags = (attribute: string) => Tag;

/** Creates narrowed tags, and remembers them by value, because each new text has to be hashed. Forgets all when it has too many. */
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
    const tags = valueAt(ofField, value, () => new Map<string, Tag>());
    return (attribute) =>
      valueAt(tags, attribute, () => {
        size++;
        return make(type, world, equality, attribute);
      });
  };
}

/** Creates an empty memory of tags, by the field that narrows, its value and the attribute. */
function createMemory() {
  return rememberedByName(() => new Map<unknown, Map<string, Tag>>());
}
