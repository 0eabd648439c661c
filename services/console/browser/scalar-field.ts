import { describedBy, Errors, errorsAt, type FieldProps, fieldId, Hint } from './field-parts.ts';
import { html } from './html.ts';
import { problemOfScalar } from './scalar-text.ts';

/** A field of one value. */
export function ScalarField(props: FieldProps<string>) {
  const { name, path, attribute, value, errors } = props;
  const problem = problemOfScalar(attribute, value);
  const shown = [...errorsAt(path, errors), ...(problem === undefined ? [] : [{ path, message: problem }])];
  return html`<div class="field">
    <div><label for=${fieldId(path)}>${name}</label> <${Hint} path=${path} attribute=${attribute} /></div>
    <${Input} ...${props} errors=${shown} />
    <${Errors} path=${path} errors=${shown} />
  </div>`;
}

const AREAS: Readonly<Record<string, number>> = { text: 4, richtext: 10, json: 6 };

function Input(props: FieldProps<string>) {
  const { path, attribute, value, change, errors } = props;
  const own = {
    ...describedBy(path, errors),
    value,
    onInput: (event: Event) => change((event.target as HTMLInputElement).value),
  };
  const { type } = attribute;
  const rows = AREAS[type];
  if (rows !== undefined)
    return html`<textarea ...${own} rows=${rows} spellcheck=${type !== 'json'}></textarea>`;
  if (type === 'enumeration')
    return html`<${Choice} own=${own} value=${value} options=${(attribute.enum ?? []).map((each) => [each, each] as const)} />`;
  if (type === 'boolean') return html`<${Choice} own=${own} value=${value} options=${YES_NO} />`;
  if (type === 'uid' && attribute.targetField !== undefined) return html`<${Uid} ...${props} own=${own} />`;
  return html`<input ...${own} ...${INPUTS[type] ?? {}} ...${isFine(type, value) ? { step: '0.001' } : {}} />`;
}

/** Properties of inputs. Numbers are texts, because a browser returns an empty value for a text that is not a number. */
const INPUTS: Readonly<Record<string, object>> = {
  integer: { inputmode: 'numeric' },
  biginteger: { inputmode: 'numeric' },
  decimal: { inputmode: 'decimal' },
  float: { inputmode: 'decimal' },
  email: { type: 'email' },
  password: { type: 'password', autocomplete: 'new-password' },
  date: { type: 'date' },
  time: { type: 'time', step: '1' },
  datetime: { type: 'datetime-local', step: '1' },
};

function isFine(type: string, value: string): boolean {
  return (type === 'time' || type === 'datetime') && value.includes('.');
}

const YES_NO = [
  ['true', 'yes'],
  ['false', 'no'],
] as const;

type ChoiceProps = {
  readonly own: object;
  readonly value: string;
  readonly options: readonly (readonly [value: string, words: string])[];
};

function Choice({ own, value, options }: ChoiceProps) {
  return html`<select ...${own}><option value="" selected=${value === ''}>none</option>
    ${options.map(([each, words]) => html`<option value=${each} selected=${each === value}>${words}</option>`)}</select>`;
}

function Uid({ attribute, siblings, change, own }: FieldProps<string> & { readonly own: object }) {
  const source = siblings[attribute.targetField ?? ''];
  const make = () => change(slugOf(typeof source === 'string' ? source : ''));
  return html`<div class="row"><input ...${own} />
    <button type="button" disabled=${!source} onClick=${make}>Make it from ${attribute.targetField}</button></div>`;
}

function slugOf(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}
