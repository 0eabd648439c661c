import { documentChanges } from '../../projections/generations/shape.ts';
import { type ReadRows, type TypeEffect, typeEffects } from '../../projections/graph/convert/type-effects.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import type { TypeDefinition } from '../../shared/schema/type-definitions.ts';

/** Differences between the content types of a graph and those of a folder. */
export type TypesDiff = {
  /** Types that only the folder has. */
  readonly added: readonly Uid[];
  /** Types that only the graph has. Their entries are not served, and come back with the type. */
  readonly unserved: readonly { readonly type: Uid; readonly entries: number }[];
  /** Changed attributes, in words. */
  readonly changes: readonly string[];
  /** Effects on stored values. */
  readonly effects: readonly TypeEffect[];
};

const DEFINITIONS = 'SELECT uid, data FROM definitions ORDER BY uid';
const ENTRIES = `SELECT count(DISTINCT key / 4) FROM rows WHERE type = (SELECT id FROM names WHERE name = ?)`;

/** Compares the content types of a graph with others. It reads the rows of changed types, and writes nothing. */
export function diffTypes(read: ReadRows, definitions: readonly TypeDefinition[]): TypesDiff {
  const known = new Map([...read(DEFINITIONS)].map(([uid, data]) => [String(uid), String(data)]));
  const own = new Set(definitions.map(({ uid }) => uid));
  const added = definitions.flatMap(({ uid }) => (known.has(uid) ? [] : [uid]));
  const changes = definitions.flatMap((now) => {
    const before = known.get(now.uid);
    return before === undefined ? [] : documentChanges(JSON.parse(before) as TypeDefinition, now);
  });
  const unserved = [...known.keys()].flatMap((type) => {
    const entries = own.has(type) ? 0 : Number([...read(ENTRIES, type)][0]?.[0]);
    return entries === 0 ? [] : [{ type, entries }];
  });
  return { added, unserved, changes, effects: typeEffects(read, definitions) };
}
