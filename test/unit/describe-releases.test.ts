import { expect, it } from 'vitest';
import { describeReleases } from '../../services/releases/describe-release.ts';
import type { Release, StoredAction } from '../../shared/releases/release-state.ts';

const AT = '2026-01-01T00:00:00.000Z';

function releaseOf(id: number, actions: number, given: Partial<Release> = {}): Release {
  const action = (n: number): StoredAction => ({
    id: n,
    type: 'publish',
    contentType: 'api::article.article',
    entryDocumentId: `document${n}`,
    locale: null,
    createdAt: AT,
    updatedAt: AT,
  });
  return {
    id,
    name: `release ${id}`,
    single: false,
    scheduledAt: null,
    timezone: null,
    createdAt: AT,
    updatedAt: AT,
    createdBy: null,
    revision: 0n,
    actions: Array.from({ length: actions }, (_, n) => action(n + 1)),
    releasedAt: null,
    lateMs: null,
    failure: null,
    ...given,
  };
}

it('a page of releases checks 2,000 actions, those of releases that were carried out not counted', async () => {
  let checked = 0;
  const together = {
    check: async (actions: readonly unknown[]) => {
      checked += actions.length;
      return [];
    },
  };
  const described = await describeReleases({ together }, [
    releaseOf(6, 1_000, { releasedAt: AT }),
    releaseOf(5, 1_000),
    releaseOf(4, 999),
    releaseOf(3, 2),
    releaseOf(2, 0),
    releaseOf(1, 1, { failure: { at: AT, problems: [] } }),
  ]);
  expect(described.map(({ status }) => status)).toEqual(['done', 'ready', 'ready', null, 'empty', 'failed']);
  expect(checked).toBe(1_999);
});
