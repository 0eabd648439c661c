import type { Attribute, Uid } from '../schema/content-type.ts';
import type { ComponentStep } from './read-index.ts';

/** Returns the step from a row to the components of one kind in an attribute. */
export function componentStep({ kind, name }: Pick<Attribute, 'kind' | 'name'>, uid: Uid): ComponentStep {
  return kind === 'dynamiczone' ? { attribute: name, zoneComponent: uid } : { attribute: name };
}
