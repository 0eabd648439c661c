import { expect, test } from 'vitest';

test('tests run on the Node that package.json brings, whatever the machine has', () => {
  expect(Number(process.versions.node.split('.')[0])).toBeGreaterThanOrEqual(24);
});
