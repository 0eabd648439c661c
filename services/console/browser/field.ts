import { useState } from 'preact/hooks';
import type { BlockRow } from './block-rows.ts';
import { BlocksField } from './blocks-field.ts';
import { componentNamed, componentTitle } from './content-model.ts';
import { type FieldProps, Group } from './field-parts.ts';
import { type FieldValue, isList, type Linked, newPart, type PartValue } from './form-values.ts';
import { html } from './html.ts';
import { Moves, moved } from './list-moves.ts';
import { MediaField } from './media-field.ts';
import { RelationField } from './relation-field.ts';
import { ScalarField } from './scalar-field.ts';

/** Shows the field of an attribute of any type. */
export function Field(props: FieldProps) {
  switch (props.attribute.type) {
    case 'relation':
      return html`<${RelationField} ...${props as FieldProps<readonly Linked[]>} />`;
    case 'media':
      return html`<${MediaField} ...${props as FieldProps<readonly Linked[]>} />`;
    case 'component':
    case 'dynamiczone':
      return html`<${PartsField} ...${props as FieldProps<readonly PartValue[]>} />`;
    case 'blocks':
      return html`<${BlocksField} ...${props as FieldProps<readonly BlockRow[]>} />`;
    default:
      return html`<${ScalarField} ...${props as FieldProps<string>} />`;
  }
}

/** Components of an attribute or a dynamic zone: add, move and remove them. */
function PartsField(props: FieldProps<readonly PartValue[]>) {
  const { attribute, value, change, path } = props;
  const many = isList(attribute);
  return html`<${Group} props=${props} isDeep>
    ${value.map(
      (
        part,
        at,
      ) => html`<${Part} key=${part.key} props=${props} part=${part} at=${at} path=${many ? `${path}.${at}` : path}
      keep=${(next: PartValue) => change(value.with(at, next))} />`,
    )}
    ${(many || value.length === 0) && html`<${Add} name=${props.name} components=${attribute.components ?? [attribute.component ?? '']} add=${(uid: string) => change([...value, newPart(uid)])} />`}
  <//>`;
}

type PartProps = {
  readonly props: FieldProps<readonly PartValue[]>;
  readonly part: PartValue;
  readonly at: number;
  readonly path: string;
  readonly keep: (part: PartValue) => void;
};

function Part({ props, part, at, path, keep }: PartProps) {
  const { name, value, change, errors, locale } = props;
  const label = value.length > 1 ? `${name} ${at + 1}` : name;
  const set = (field: string, next: FieldValue) =>
    keep({ ...part, values: { ...part.values, [field]: next } });
  return html`<div class="part" role="group" aria-label=${`${label}: ${componentTitle(part.uid)}`}>
    <div class="row spread"><strong>${componentTitle(part.uid)}</strong>
      <${Moves} label=${label} at=${at} length=${value.length} move=${(to: number) => change(moved(value, at, to))} remove=${() => change(value.toSpliced(at, 1))} /></div>
    ${Object.entries(componentNamed(part.uid)).map(
      ([
        field,
        attribute,
      ]) => html`<${Field} key=${field} name=${field} path=${`${path}.${field}`} attribute=${attribute} value=${part.values[field] ?? ''}
      change=${(next: FieldValue) => set(field, next)} siblings=${part.values} errors=${errors} locale=${locale} />`,
    )}
  </div>`;
}

type AddProps = {
  readonly name: string;
  readonly components: readonly string[];
  readonly add: (uid: string) => void;
};

function Add({ name, components, add }: AddProps) {
  const [chosen, setChosen] = useState(components[0] ?? '');
  const [only] = components;
  if (components.length === 1 && only !== undefined)
    return html`<p class="row"><button type="button" aria-label=${`Add ${componentTitle(only)} to ${name}`} onClick=${() => add(only)}>Add ${componentTitle(only)}</button></p>`;
  return html`<p class="row"><select aria-label=${`Component for ${name}`} value=${chosen} onChange=${(event: Event) => setChosen((event.target as HTMLSelectElement).value)}>
      ${components.map((uid) => html`<option value=${uid} selected=${uid === chosen}>${componentTitle(uid)}</option>`)}</select>
    <button type="button" aria-label=${`Add to ${name}`} onClick=${() => add(chosen)}>Add</button></p>`;
}
