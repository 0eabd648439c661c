import type { Attribute, Component, ContentType, Model, Uid } from '../../shared/schema/content-type.ts';
import { hasMilliseconds } from '../../shared/schema/time-form.ts';
import { modelOfDefinition, type TypeDefinition } from '../../shared/schema/type-definitions.ts';

/** A change of a content type that requires a conversion of its rows, in words for operators. */
export type ShapeChange = string;

/**
 * Returns the changes of a content type that make rows of the old definition unreadable by the new one. An attribute, also of a component,
 * may be gone or have another name, type or privacy. Draft & publish or locales may be switched. Added attributes and rules for writes
 * change no stored row. Pure.
 */
export function shapeChanges(before: TypeDefinition, now: TypeDefinition): readonly ShapeChange[] {
  const [was, is] = [modelOfDefinition(before), modelOfDefinition(now)];
  return [
    ...switches(was.model, is.model),
    ...attributeChanges(was.model, is.model),
    ...[...was.registry.components.values()].flatMap((component) =>
      componentChanges(component, is.registry.components.get(component.uid)),
    ),
  ].map((change) => `${now.uid}: ${change}`);
}

/**
 * Returns the changes that make indexed documents of the old definition unusable. These are the changes of `shapeChanges`, and added
 * attributes, which those documents lack. Pure.
 */
export function documentChanges(before: TypeDefinition, now: TypeDefinition): readonly ShapeChange[] {
  const [was, is] = [modelOfDefinition(before), modelOfDefinition(now)];
  const known = new Map<Uid, Model>([[now.uid, was.model], ...was.registry.components]);
  const models = [is.model, ...is.registry.components.values()];
  const added = models.flatMap((model) => addedAttributes(known.get(model.uid), model));
  return [...shapeChanges(before, now), ...added.map((name) => `${now.uid}: ${name} was added`)];
}

function addedAttributes(before: Model | undefined, now: Model): readonly string[] {
  return [...now.attributes.keys()].filter((name) => before?.attributes.has(name) === false);
}

function switches(before: ContentType, now: ContentType): readonly ShapeChange[] {
  const changes: ShapeChange[] = [];
  if (before.draftAndPublish !== now.draftAndPublish)
    changes.push(`draft & publish was turned ${now.draftAndPublish ? 'on' : 'off'}`);
  if (before.localized !== now.localized) changes.push(`locales were turned ${now.localized ? 'on' : 'off'}`);
  const hidden = (type: ContentType) => (type.privateTimes ?? []).join();
  if (hidden(before) !== hidden(now)) changes.push('other times of its rows are private');
  return changes;
}

function componentChanges(before: Component, now: Component | undefined): readonly ShapeChange[] {
  if (now === undefined) return [];
  return attributeChanges(before, now).map((change) => `component ${before.uid}: ${change}`);
}

function attributeChanges(before: Model, now: Model): readonly ShapeChange[] {
  return [...before.attributes.values()].flatMap((attribute) => {
    const found = now.attributes.get(attribute.name);
    if (found === undefined) return [`${attribute.name} was removed or renamed`];
    return storedAs(attribute) === storedAs(found) ? [] : [`${attribute.name} has another type`];
  });
}

/** Returns a text that is equal for two definitions of an attribute if each can read the other's rows. */
function storedAs(attribute: Attribute): string {
  const { private: hidden, localized } = attribute;
  return JSON.stringify([attribute.kind, hidden, localized, ...details(attribute)]);
}

function details(attribute: Attribute): readonly unknown[] {
  switch (attribute.kind) {
    case 'scalar':
      return [attribute.type, ...(hasMilliseconds(attribute) ? ['milliseconds'] : [])];
    case 'relation':
      return [attribute.relation, attribute.target, attribute.mappedBy];
    case 'component':
      return [attribute.component, attribute.repeatable];
    case 'dynamiczone':
      return attribute.components;
  }
}
