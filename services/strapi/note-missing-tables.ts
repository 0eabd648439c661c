import type { Model, RelationAttribute } from '../../shared/schema/content-type.ts';
import { isContentType } from '../../shared/schema/system-attributes.ts';
import { hasLinks } from './database-links.ts';
import type { DatabaseScope } from './database-rows.ts';
import { componentTable } from './strapi-tables.ts';

/**
 * Notes each component and attribute of the schemas for which the database has no table or column: Strapi makes those when it starts with
 * the schemas, so the database may belong to others. Their values are absent.
 */
export function noteMissingTables(scope: DatabaseScope): void {
  const { registry, tables, notes } = scope;
  for (const model of [...registry.contentTypes.values(), ...registry.components.values()]) {
    const table = tables.ofModel(model.uid);
    if (table === undefined) {
      if (!isContentType(model)) notes.add(model.uid, 'absent: the database has no table of it');
      continue;
    }
    // Strapi does not have all attributes of the built-in types.
    if (!isContentType(model) || !model.builtIn)
      for (const name of missingAttributes(scope, model, table))
        notes.add(`${model.uid} ${name}`, 'absent: the database has no column or table for it');
  }
}

function missingAttributes({ tables }: DatabaseScope, model: Model, table: string): readonly string[] {
  return [...model.attributes.values()].flatMap((attribute) => {
    switch (attribute.kind) {
      case 'scalar':
        return tables.columnOf(table, attribute.name) === undefined ? [attribute.name] : [];
      case 'relation':
        return isOwner(attribute) && !hasLinks(tables, model, attribute) ? [attribute.name] : [];
      default:
        return componentTable(tables, model) === undefined ? [attribute.name] : [];
    }
  });
}

/** Returns whether the links of a relation are its own, and not those of the other side or of the media library. */
function isOwner({ mappedBy, media }: RelationAttribute): boolean {
  return mappedBy === undefined && media === undefined;
}
