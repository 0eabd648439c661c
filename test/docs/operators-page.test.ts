import { expect, it } from 'vitest';
import { OPERATOR_NAMES } from '../../services/query/operators.ts';
import { operatorsPage } from './operators-page.ts';

it('there are 24 operators', () => {
  expect(OPERATOR_NAMES).toHaveLength(24);
});

it('docs/operators.md equals the operator table', async () => {
  await expect(operatorsPage()).toMatchFileSnapshot('../../docs/operators.md');
});
