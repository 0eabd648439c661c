import type { ContentTypeDefined } from '../../shared/document/events.ts';
import { definitionStream } from '../../shared/document/stream-name.ts';
import type { EffectiveEvents } from '../../shared/fleet/effective-events.ts';
import { valueAt } from '../../shared/map-values.ts';
import type { ContentType, Uid } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { registryOfDefinitions } from '../../shared/schema/type-definitions.ts';
import { digestText } from '../../shared/text-digest.ts';

/** A definition of a content type, in force from a position of the log on. */
export type TypeEra = {
  readonly from: bigint;
  readonly draftAndPublish: boolean;
  readonly localized: boolean;
  readonly defaultLocale: string;
  /** Attributes that all locales of a document share. */
  readonly shared: ReadonlySet<string>;
  /** Digest of the schema and its components. */
  readonly model: string;
};

/** The definitions of a type, in order. */
export type TypeEras = (type: Uid) => Promise<readonly TypeEra[]>;

type Known = { next: bigint; readonly eras: TypeEra[] };

/** Creates a reader of the definitions of types. Each call reads the definitions that are new since the previous call. */
export function createTypeEras(
  events: Pick<EffectiveEvents, 'stream'>,
  space: string,
  registry: SchemaRegistry,
): TypeEras {
  const known = new Map<Uid, Known>();
  return async (uid) => {
    const found = valueAt(known, uid, () => ({ next: 0n, eras: [] }));
    for await (const event of events.stream(definitionStream(space, uid), found.next)) {
      if (event.revision < found.next) continue;
      found.next = event.revision + 1n;
      const era = eraOf(event.position, event.data as ContentTypeDefined['data'], registry);
      if (era !== undefined && era.model !== found.eras.at(-1)?.model) found.eras.push(era);
    }
    return found.eras;
  };
}

function eraOf(
  from: bigint,
  data: ContentTypeDefined['data'],
  registry: SchemaRegistry,
): TypeEra | undefined {
  const defined = registryOfDefinitions([data]).contentTypes.get(data.uid);
  // Built-in types have no schema in the log.
  const type = defined ?? registry.contentTypes.get(data.uid);
  if (type === undefined) return undefined;
  const { draftAndPublish, localized } = type;
  const { defaultLocale, schema, components } = data;
  const model = digestText(JSON.stringify([schema, components]));
  return { from, draftAndPublish, localized, defaultLocale, shared: sharedOf(type), model };
}

function sharedOf({ localized, attributes }: ContentType): ReadonlySet<string> {
  if (!localized) return new Set();
  const shared = [...attributes.values()].filter((attribute) => !attribute.localized);
  return new Set(shared.map(({ name }) => name));
}
