import type { Uid } from '../../shared/schema/content-type.ts';
import type { TypeDefinition } from '../../shared/schema/type-definitions.ts';

/** Relation to the author, which Strapi adds to each type, in the form of its archives. */
const author = {
  type: 'relation',
  relation: 'oneToOne',
  target: 'admin::user',
  configurable: false,
  writable: false,
  visible: false,
  useJoinTable: false,
  private: true,
};

/** Returns the lines of `schemas/`: each type of the project with Strapi's additions, and the components. */
export function exportedSchemas(definitions: readonly TypeDefinition[]): object[] {
  const components = new Map<Uid, object>();
  const types = definitions.flatMap(({ uid, schema, components: own }) => {
    for (const [name, component] of Object.entries(own)) components.set(name, component as object);
    if (schema === null || !uid.startsWith('api::')) return [];
    const modelName = uid.slice(uid.lastIndexOf('.') + 1);
    const { attributes = {}, ...others } = schema as { readonly attributes?: object };
    const all = { ...attributes, ...addedAttributes(uid) };
    return [{ kind: 'collectionType', ...others, attributes: all, modelType: 'contentType', modelName, uid }];
  });
  const named = [...components].map(([uid, component]) => {
    const modelName = uid.slice(uid.lastIndexOf('.') + 1);
    return { ...component, modelType: 'component', modelName, uid };
  });
  return [...types, ...named];
}

function addedAttributes(uid: Uid): object {
  const hidden = { writable: true, private: true, configurable: false, visible: false };
  return {
    createdAt: { type: 'datetime' },
    updatedAt: { type: 'datetime' },
    publishedAt: { type: 'datetime', configurable: false, writable: true, visible: true },
    createdBy: author,
    updatedBy: author,
    locale: { ...hidden, type: 'string' },
    localizations: { ...hidden, writable: false, type: 'relation', relation: 'oneToMany', target: uid },
  };
}
