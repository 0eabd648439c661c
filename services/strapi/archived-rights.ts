import { ACTIONS } from '../../shared/access/rights.ts';
import { addToList } from '../../shared/map-values.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { archivedText } from './archived-text.ts';
import { PERMISSION_TYPE, ROLE_TYPE } from './stager.ts';
import type { Staging } from './staging.ts';

/** Name of an action in Strapi, such as `api::tag.tag.find`. */
const ACTION = /^(.+)\.([^.]+)$/;

/** Returns the rights of each role of an archive on the served types, such as `tag.find`. Omits roles without rights. */
export function archivedRights(
  staging: Pick<Staging, 'rowsOf' | 'linksOf' | 'row'>,
  { contentTypes }: SchemaRegistry,
): { readonly [role: string]: readonly string[] } {
  const rights = new Map<string, string[]>();
  for (const { id, data } of staging.rowsOf(PERMISSION_TYPE)) {
    const [, uid = '', action = ''] = ACTION.exec(archivedText(data['action'])) ?? [];
    const type = contentTypes.get(uid);
    if (type === undefined || type.builtIn || !ACTIONS.some((known) => known === action)) continue;
    for (const { targetId } of staging.linksOf(PERMISSION_TYPE, id)) {
      const role = archivedText(staging.row(ROLE_TYPE, targetId)?.data['type']);
      addToList(rights, role, `${type.singularName}.${action}`);
    }
  }
  return Object.fromEntries(rights);
}
