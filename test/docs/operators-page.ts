import { GROUP_OPERATORS, isOperator, OPERATOR_NAMES, operatorOf } from '../../services/query/operators.ts';

/** Returns docs/operators.md, generated from the parser's table of operators. */
export function operatorsPage(): string {
  const comparisons = OPERATOR_NAMES.filter(isOperator);
  return [
    '# Filter operators',
    '',
    'For developers of front ends. After it you can write any filter.',
    '',
    `\`filters[path][operator]=operand\`. There are ${OPERATOR_NAMES.length}: ${comparisons.length} that compare and ${GROUP_OPERATORS.length} that combine. A path is an`,
    'attribute, or relations and components down to one: `filters[chef][country][name][$eq]=Italy`. Without an operator a',
    'comparison is `$eq`. Names are case-sensitive. Varve answers a filter that it does not understand with a 400 that names the part.',
    '',
    'This page is made from the operator table in `services/query/operators.ts` (`npx vitest run test/docs/operators-page.test.ts -u` writes it).',
    '',
    '## Comparing',
    '',
    '| operator | meaning | operand | attributes | given a list |',
    '|---|---|---|---|---|',
    ...comparisons.map((name) => {
      const { summary, operand, fieldTypes, list } = operatorOf(name);
      return `| \`${name}\` | ${lowerFirst(summary)} | ${OPERAND[operand]} | ${attributes(fieldTypes)} | ${operand === 'list' ? 'its operand' : LIST[list]} |`;
    }),
    '',
    'A row whose value is null satisfies only `$null`, `$notNull=false`, and `$eq` and `$eqi` without a value (`filters[stars]`). It',
    'satisfies no negative comparison either: `filters[stars][$ne]=3` omits entries without stars. An operator that ignores case',
    'compares the text form of the value, so it also takes numbers and dates: `filters[stars][$containsi]=1`.',
    '',
    '## Combining',
    '',
    '| operator | takes | true when |',
    '|---|---|---|',
    '| `$and` | a list of filters | all of them are true |',
    '| `$or` | a list of filters | at least one of them is true |',
    '| `$not` | a filter, or operators below an attribute | it is false (not: null) |',
    '',
    'Conditions next to each other are joined by `$and`. Conditions inside one relation are about the same related entry. Two',
    'mentions of a relation, as two members of `$and`, may be about two different ones.',
    '',
    'A name for the [place](search.md#places) of an entry takes `$near` and `$within`.',
    '',
  ].join('\n');
}

const OPERAND = {
  value: "a value of the attribute's type",
  text: 'text',
  list: 'a list of values',
  pair: 'two values, low and high',
  flag: '`true` or `false`',
} as const;

const LIST = {
  in: 'equals one of them',
  any: 'true of one of them',
  refused: 'refused',
} as const;

const ORDERED_COUNT = 6;

function attributes(fieldTypes: readonly string[]): string {
  if (fieldTypes.length > ORDERED_COUNT) return 'all';
  return fieldTypes.length === 1 ? 'text' : 'all but json and blocks';
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
