import type { ContentTypeDefined } from '../../../shared/document/events.ts';
import type { SchemaRegistry } from '../../../shared/schema/schema-registry.ts';
import { registryOfDefinitions, type TypeDefinition } from '../../../shared/schema/type-definitions.ts';
import type { Names } from '../store/entry-names.ts';
import type { GraphDatabase } from '../store/graph-database.ts';
import { createSchemaView, type SchemaView } from '../store/type-view.ts';

/** The content types in force at the graph's position. */
export type Definitions = ReturnType<typeof openDefinitions>;

const FIND = 'SELECT data FROM definitions WHERE uid = ?';
const MOVE = 'UPDATE definitions SET position = ?1 WHERE uid = ?2 AND position > ?1';

/** Reads definitions from the graph's file. Changes are written at once, so `define` must run in the transaction of the events. */
export function openDefinitions(db: GraphDatabase, names: Names) {
  let view: SchemaView | undefined;
  const definitions = {
    /**
     * Applies a definition from the log. Returns the previous definition, and the view before, if rows of its type have to be converted.
     * If the rows were already converted, ahead of the log, the definition only gets its position.
     */
    define(data: ContentTypeDefined['data'], position: number): Replaced | undefined {
      const json = JSON.stringify(data);
      const text = db.get(FIND, data.uid)?.[0];
      if (text === json) {
        db.run(MOVE, position, data.uid);
        return undefined;
      }
      const before = text === undefined ? undefined : (JSON.parse(String(text)) as TypeDefinition);
      const isConverted = before !== undefined && !isSameModel(before, data);
      const replaced = isConverted ? { before, view: definitions.view() } : undefined;
      db.run('INSERT OR REPLACE INTO definitions VALUES (?, ?, ?)', data.uid, position, json);
      view = undefined;
      return replaced;
    },
    /** A type's definition in JSON, as in its event; undefined if the type has none. */
    text: (uid: string): string | undefined => db.get(FIND, uid)?.[0]?.toString(),
    /** Registry in force. Computed on demand, because definitions come in runs and only the last one completes the registry. */
    view(): SchemaView {
      view ??= createSchemaView(readRegistry(db), names);
      return view;
    },
  };
  return definitions;
}

/** A definition that another one replaced, and the view of all content types before. */
export type Replaced = { readonly before: TypeDefinition; readonly view: SchemaView };

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
