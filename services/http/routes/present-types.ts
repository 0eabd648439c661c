import { assertNever } from '../../../shared/assert-never.ts';
import { defined } from '../../../shared/defined.ts';
import { allowedComponents } from '../../../shared/schema/component-uids.ts';
import type {
  Attribute,
  Component,
  ContentType,
  Model,
  RelationAttribute,
  ScalarAttribute,
  Uid,
} from '../../../shared/schema/content-type.ts';
import { componentOf, type SchemaRegistry } from '../../../shared/schema/schema-registry.ts';

/**
 * Returns a content type as Strapi's content-type builder describes it. Source plugins read these descriptions before they read entries.
 * Private attributes are omitted.
 */
export function presentType(type: ContentType) {
  const { uid, kind, singularName, pluralName, displayName, draftAndPublish } = type;
  const plugin = /^plugin::([^.]+)/.exec(uid)?.[1];
  return {
    uid,
    ...defined({ plugin }),
    apiID: singularName,
    schema: {
      draftAndPublish,
      displayName,
      singularName,
      pluralName,
      description: '',
      pluginOptions: localization(type.localized),
      kind,
      attributes: presentAttributes(type, type.localized),
      visible: true,
    },
  };
}

/** Returns a component as Strapi's content-type builder describes it. */
export function presentComponent(component: Component) {
  const [category, name] = component.uid.split('.');
  return {
    uid: component.uid,
    category,
    apiId: name,
    schema: {
      displayName: component.displayName,
      description: '',
      attributes: presentAttributes(component, false),
    },
  };
}

/** Returns the components in `types`, at any depth, in the order of the registry. */
export function presentedComponents(registry: SchemaRegistry, types: readonly ContentType[]): Component[] {
  const contained = new Set<Uid>();
  const pending: Model[] = [...types];
  for (let model = pending.pop(); model !== undefined; model = pending.pop()) {
    for (const uid of publicAttributes(model).flatMap(allowedComponents)) {
      if (contained.has(uid)) continue;
      contained.add(uid);
      pending.push(componentOf(registry, uid));
    }
  }
  return [...registry.components.values()].filter(({ uid }) => contained.has(uid));
}

function publicAttributes(model: Model): Attribute[] {
  return [...model.attributes.values()].filter((attribute) => !attribute.private);
}

/** Returns the attributes of a type or component that a write may have, and that no answer has. */
export function presentHidden(model: Model) {
  const isLocalized = 'localized' in model && model.localized;
  return presentAll(
    [...model.attributes.values()].filter((attribute) => attribute.private),
    isLocalized,
  );
}

function presentAttributes(model: Model, localizedType: boolean) {
  return presentAll(publicAttributes(model), localizedType);
}

function presentAll(attributes: readonly Attribute[], localizedType: boolean) {
  const shown = attributes.map((attribute) => {
    const { name, required, configurable } = attribute;
    const base = {
      ...(required ? { required } : {}),
      ...(configurable ? {} : { configurable }),
      ...(localizedType ? { pluginOptions: localization(attribute.localized) } : {}),
    };
    return [name, { ...presentKind(attribute), ...base }];
  });
  return Object.fromEntries(shown);
}

function presentKind(attribute: Attribute): object {
  switch (attribute.kind) {
    case 'scalar':
      return presentScalar(attribute);
    case 'relation':
      return presentRelation(attribute);
    case 'component': {
      const { component, repeatable, min, max } = attribute;
      return { type: 'component', component, repeatable, min, max };
    }
    case 'dynamiczone': {
      const { components, min, max } = attribute;
      return { type: 'dynamiczone', components, min, max };
    }
    default:
      return assertNever(attribute);
  }
}

function presentScalar(attribute: ScalarAttribute): object {
  const { type, unique, min, max, minLength, maxLength, regex, targetField } = attribute;
  const { enum: values, default: value } = attribute;
  const limits = { min, max, minLength, maxLength, regex, targetField };
  return { type, ...limits, enum: values, default: value, ...(unique ? { unique } : {}) };
}

function presentRelation({ relation, target, inversedBy, mappedBy, media }: RelationAttribute): object {
  if (media !== undefined) return { type: 'media', ...media };
  const targetAttribute = inversedBy ?? mappedBy ?? null;
  return { type: 'relation', relation, target, inversedBy, mappedBy, targetAttribute };
}

function localization(localized: boolean) {
  return localized ? { i18n: { localized } } : {};
}
