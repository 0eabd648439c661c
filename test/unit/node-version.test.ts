import { expect, test } from 'vitest';
import { nodeProblem } from '../../services/cli/node-problem.ts';

test('tests run on the Node that infra/checkout installs, on any machine', () => {
  expect(Number(process.versions.node.split('.')[0])).toBeGreaterThanOrEqual(24);
});

test('an older Node is refused with one clear sentence', () => {
  expect(nodeProblem('20.20.2')).toMatch(
    /^varve needs Node 24 or newer, and this is Node 20\.20\.2: install/,
  );
  expect(nodeProblem('24.0.0')).toBeUndefined();
  expect(nodeProblem(process.versions.node)).toBeUndefined();
});
