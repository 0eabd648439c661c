import type { ContentTypeDefined } from '../../../shared/document/events.ts';
import type { SchemaRegistry } from '../../../shared/schema/schema-registry.ts';
import { registryOfDefinitions, type TypeDefinition } from '../../../shared/schema/type-definitions.ts';
import type { Names } from '../store/entry-names.ts';
import type { GraphDatabase } from '../store/graph-database.ts';
import { createSchemaView, type SchemaView } from '../store/type-view.ts';

/** The content types in force at the graph's position. */
export type Definitions = {
  /**
   * Applies a definition from the log. Returns the previous definition if rows of its type have to be converted. If the rows were already
   * converted, ahead of the log, the definition only gets its position.
   */
  define(data: ContentTypeDefined['data'], position: number): TypeDefinition | undefined;
  /** A type's definition in JSON, as in its event; undefined if the type has none. */
  text(uid: string): string | undefined;
  /** Registry in force. Computed on demand, because definitions come in runs and only the last one completes the registry. */
  view(): SchemaView;
};

/** Reads definitions from the graph's file. Changes are written at once, so `define` must run in the transaction of the events. */
export function openDefinitions(db: GraphDatabase, names: Names): Definitions {
  let view: SchemaView | undefined;
  return {
    define(data, position) {
      const json = JSON.stringify(data);
      const before = db.get('SELECT data FROM definitions WHERE uid = ?', data.uid);
      if (before?.[0] === json) {
        db.run(
          'UPDATE definitions SET position = ? WHERE uid = ? AND position > ?',
          position,
          data.uid,
          position,
        );
        return undefined;
      }
      db.run('INSERT OR REPLACE INTO definitions VALUES (?, ?, ?)', data.uid, position, json);
      view = undefined;
      const known = before === undefined ? undefined : (JSON.parse(String(before[0])) as TypeDefinition);
      return known === undefined || isSameModel(known, data) ? undefined : known;
    },
    text: (uid) => db.get('SELECT data FROM definitions WHERE uid = ?', uid)?.[0]?.toString(),
    view() {
      view ??= createSchemaView(readRegistry(db), names);
      return view;
    },
  };
}

/** Compares all but the default locale, which only affects later entries. */
export function isSameModel(before: TypeDefinition, now: TypeDefinition): boolean {
  const [a, b] = [before, now].map(({ schema, components }) => JSON.stringify([schema, components]));
  return a === b;
}

function readRegistry(db: GraphDatabase): SchemaRegistry {
  const definitions = db
    .all('SELECT data FROM definitions ORDER BY position')
    .map(([data]) => JSON.parse(String(data)));
  return registryOfDefinitions(definitions);
}
