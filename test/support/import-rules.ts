import type { IRegularForbiddenRuleType } from 'dependency-cruiser';

/** Rules for the imports of files. rooms.ts checks the imports of rooms, by the table in docs/architecture.md. */

/** Files outside the pure rooms that must also do no I/O and read no clock. */
export const PURE_FILES = ['^services/command/decide'];

/** Built-in modules that do no I/O. */
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
