import type { BlockRow } from './block-rows.ts';
import { componentNamed } from './content-model.ts';
import type { FieldError } from './entry-request.ts';
import { type Attributes, type FormValues, isList, type PartValue } from './form-values.ts';
import { problemOfScalar } from './scalar-text.ts';

const LINKS = ['relation', 'media'];
const PARTS = ['component', 'dynamiczone'];

/** Returns what keeps the values of a form from being sent, by paths such as `hours.0.opens`. */
export function valueProblems(attributes: Attributes, values: FormValues, base = ''): readonly FieldError[] {
  return Object.entries(attributes).flatMap(([name, attribute]) => {
    const value = values[name] ?? '';
    const path = `${base}${name}`;
    if (LINKS.includes(attribute.type)) return [];
    if (PARTS.includes(attribute.type))
      return (value as readonly PartValue[]).flatMap((part, i) =>
        valueProblems(componentNamed(part.uid), part.values, `${path}.${isList(attribute) ? `${i}.` : ''}`),
      );
    if (attribute.type === 'blocks') return blockProblems(value as readonly BlockRow[], path);
    const message = problemOfScalar(attribute, value as string);
    return message === undefined ? [] : [{ path, message }];
  });
}

function blockProblems(rows: readonly BlockRow[], path: string): readonly FieldError[] {
  const at = rows.findIndex(({ node }) => node === undefined);
  return at < 0 ? [] : [{ path, message: `Block ${at + 1} is not the JSON of a block` }];
}
