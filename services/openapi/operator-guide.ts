import { GROUP_OPERATORS, isOperator, OPERATOR_NAMES, operatorOf } from '../query/operators.ts';

const OPERAND = {
  value: "a value of the attribute's type",
  text: 'text',
  list: 'a list',
  pair: 'two values, low and high',
  flag: '`true` or `false`',
} as const;

const GROUPS: Record<(typeof GROUP_OPERATORS)[number], string> = {
  $and: 'a list of filters, all of which are true',
  $or: 'a list of filters, at least one of which is true',
  $not: 'a filter that is false (not: null)',
};

/** The filter language in Markdown, for the document's description. Made from the operator table. */
export function operatorGuide(): string {
  const rows = OPERATOR_NAMES.filter(isOperator).map((name) => {
    const { summary, operand } = operatorOf(name);
    return `| \`${name}\` | ${summary} | ${OPERAND[operand]} |`;
  });
  return [
    '## Filters',
    '',
    '`filters[attribute][operator]=operand`; attributes of related entries are reached by their path,',
    '`filters[chef][name][$eq]=Ada`. Conditions inside one relation are about the same related entry. An entry whose value is',
    'null satisfies only `$null`, `$notNull=false`, and `$eq` and `$eqi` without a value.',
    '',
    '<details><summary>Operators of filters</summary>',
    '',
    '| operator | true when the attribute is | operand |',
    '|---|---|---|',
    ...rows,
    '',
    ...GROUP_OPERATORS.map((name) => `- \`${name}\`: ${GROUPS[name]}`),
    '',
    '</details>',
    '',
  ].join('\n');
}
