import type { IRegularForbiddenRuleType } from 'dependency-cruiser';

/** The rules that are about files. Rooms import each other as the table in docs/architecture.md says (rooms.ts). */

/** Files without I/O and without a clock outside the pure rooms. */
export const PURE_FILES = ['^services/command/decide'];

/** Built-in modules that only compute. */
export const COMPUTING_BUILT_INS = /^(node:)?(buffer|util|url|string_decoder)$/;

export const IMPORT_RULES: IRegularForbiddenRuleType[] = [
  error('no-cycles', 'modules that import each other, types included', {}, { circular: true }),
  error('no-unresolved', 'an import without a target', {}, { couldNotResolve: true }),
  error(
    'no-test-imports',
    'only tests import tests',
    { pathNot: ['^test/', '^vitest\\.config\\.ts$'] },
    { path: '^test/' },
  ),
  error(
    'no-dev-dependencies',
    'what runs imports what is installed with it',
    { path: '^(shared|projections|services)/' },
    { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
  ),
  error(
    'one-parser',
    'one file reads query strings, so no two do it differently',
    { path: '^services/', pathNot: '^services/query/query-string\\.ts$' },
    { path: 'node_modules/(@types/)?qs/' },
  ),
];

function error(
  name: string,
  comment: string,
  from: IRegularForbiddenRuleType['from'],
  to: IRegularForbiddenRuleType['to'],
): IRegularForbiddenRuleType {
  return { name, comment, severity: 'error', from, to };
}
