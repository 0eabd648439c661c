import { expect, it } from 'vitest';
import { warnOfPublicWrites } from '../../../services/cli/serve/public-rights.ts';
import type { AccessState } from '../../../shared/access/access-state.ts';

type Given = Pick<AccessState, 'publicRights' | 'development'>;

/** Returns what a start logs about the rights of callers without a token. */
function warningsFor(given: Given): readonly unknown[] {
  const warnings: unknown[] = [];
  warnOfPublicWrites(given, { warn: (...what: unknown[]) => void warnings.push(what) } as never);
  return warnings;
}

function custom(...allowed: readonly string[]): Given {
  return {
    development: false,
    publicRights: { kind: 'custom', allowed: new Set(allowed), drafts: false } as never,
  };
}

it('a start warns if everyone may change content, and names the rights', () => {
  expect(warningsFor(custom('author.find', 'author.create', 'article.delete'))).toEqual([
    [{ rights: ['author.create', 'article.delete'] }, expect.stringContaining('everyone may change content')],
  ]);
});

it('a start does not warn of rights to read, nor in development mode, which it announces itself', () => {
  expect(warningsFor(custom('author.find', 'author.findOne'))).toEqual([]);
  expect(warningsFor({ ...custom('author.create'), development: true })).toEqual([]);
});
