import { type InstantCondition, isNumber, NUMERIC_OPERATORS, refuseFilter } from './instant-filter.ts';
import { type Scanner, takeKeyword, takeName, takeText, takeValue } from './scan-filter.ts';

/** Weights of conditions only rank. */
const SCORE = /<score=\d+>$/;

/** Parses `name:value`, `name:1 TO 5` or `name >= 3`. Throws RequestError. */
export function parseCondition(scanner: Scanner): InstantCondition {
  const start = scanner.at;
  const { param } = scanner;
  const name = takeName(scanner);
  const source = () => ({ path: name.text, param, at: scanner.text.slice(start, scanner.at).trim() });
  if (takeText(scanner, ':')) {
    const value = takeValue(scanner);
    if (takeKeyword(scanner, 'TO')) {
      const [from, to] = [numberOf(scanner, value.text), numberOf(scanner, takeValue(scanner).text)];
      return { kind: 'between', from, to, ...source() };
    }
    return { kind: 'equals', value: withoutScore(scanner, value), ...source() };
  }
  const operator = NUMERIC_OPERATORS.find((each) => takeText(scanner, each));
  if (operator === undefined)
    refuseFilter(param, name.text, `an attribute and a value: ${name.text}:value; tags do not exist here`);
  const value = numberOf(scanner, takeValue(scanner).text);
  return { kind: 'compares', operator, value, ...source() };
}

function withoutScore(
  scanner: Scanner,
  { text, isQuoted }: { readonly text: string; readonly isQuoted: boolean },
) {
  if (!isQuoted) return text.replace(SCORE, '');
  const score = /^<score=\d+>/.exec(scanner.text.slice(scanner.at, scanner.at + 40));
  scanner.at += score?.[0].length ?? 0;
  return text;
}

function numberOf({ param }: Scanner, text: string): string {
  return isNumber(text) ? text : refuseFilter(param, text, 'a number');
}
