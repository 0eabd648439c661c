import { expect, it } from 'vitest';
import { presentSize } from '../../../services/cli/output/present-amounts.ts';

it('status says where a projection is', () => {
  expect(presentSize({ kind: 'sqlite', bytes: 176_100 })).toBe('176.1 kB');
  expect(presentSize({ kind: 'embedded', bytes: null })).toBe('in memory');
  expect(presentSize({ kind: 'elasticsearch', bytes: null })).toBe('in Elasticsearch');
});
