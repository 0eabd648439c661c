import type { FieldError } from './entry-request.ts';
import type { FieldValue, FormValues } from './form-values.ts';
import { type Content, html } from './html.ts';
import type { ShownAttribute } from './server.ts';

/** A field of the form. `path` names it as errors do, such as `hours.0.opens`. `siblings`: values next to it. */
export type FieldProps<Value = FieldValue> = {
  readonly name: string;
  readonly path: string;
  readonly attribute: ShownAttribute;
  readonly value: Value;
  readonly change: (value: Value) => void;
  readonly siblings: FormValues;
  readonly errors: readonly FieldError[];
  /** Locale in which related entries are searched. */
  readonly locale: string | null;
};

/** Returns the id of the element that has the focus of a field. */
export function fieldId(path: string): string {
  return `field-${path}`;
}

/** Returns the properties of an input that tie it to the description and the errors of its field. */
export function describedBy(path: string, errors: readonly FieldError[]) {
  return {
    id: fieldId(path),
    'aria-describedby': `${fieldId(path)}-hint ${fieldId(path)}-error`,
    'aria-invalid': errorsAt(path, errors).length > 0,
  };
}

/** Returns the errors of a field, or of anything inside it. */
export function errorsAt(path: string, errors: readonly FieldError[], isDeep = true): readonly FieldError[] {
  return errors.filter((error) => error.path === path || (isDeep && error.path.startsWith(`${path}.`)));
}

type GroupProps = {
  readonly props: Pick<FieldProps, 'name' | 'path' | 'attribute' | 'errors'>;
  readonly children?: Content;
  /** True if parts of the field show their own errors. */
  readonly isDeep?: boolean;
};

/** A field that has several elements: a group with the name of the attribute. */
export function Group({ props: { name, path, attribute, errors }, children, isDeep = false }: GroupProps) {
  return html`<fieldset class="field group" id=${fieldId(path)} tabindex="-1" aria-describedby=${`${fieldId(path)}-hint`}>
    <legend>${name} <${Hint} path=${path} attribute=${attribute} /></legend>
    ${children}
    <${Errors} path=${path} errors=${errorsAt(path, errors, !isDeep)} />
  </fieldset>`;
}

/** Says what an attribute accepts. */
export function Hint({ path, attribute }: { readonly path: string; readonly attribute: ShownAttribute }) {
  const { type, isHidden } = attribute;
  const words = [
    type === 'dynamiczone' ? 'dynamic zone' : type,
    ...boundsOf(attribute),
    ...(isHidden ? ['never shown: empty means unchanged'] : []),
  ];
  return html`<span class="hint" id=${`${fieldId(path)}-hint`}>${words.join(', ')}</span>`;
}

/** Returns in words what a value of an attribute must be. */
export function boundsOf(attribute: ShownAttribute): readonly string[] {
  const { required, unique, min, max, minLength, maxLength } = attribute;
  return [
    ...(required ? ['required'] : []),
    ...(unique ? ['unique'] : []),
    ...(min === undefined ? [] : [`at least ${min}`]),
    ...(max === undefined ? [] : [`at most ${max}`]),
    ...(minLength === undefined ? [] : [`at least ${minLength} characters`]),
    ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
  ];
}

/** Errors of a field. The element is always there, so that the input can name it. */
export function Errors({ path, errors }: { readonly path: string; readonly errors: readonly FieldError[] }) {
  return html`<div class="errors bad" id=${`${fieldId(path)}-error`}>${errors.map(({ message }) => html`<p>${message}</p>`)}</div>`;
}
