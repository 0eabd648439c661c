import { expect, it } from 'vitest';
import { operatorsPage } from './operators-page.ts';

it('docs/operators.md equals the operator table', async () => {
  await expect(operatorsPage()).toMatchFileSnapshot('../../docs/operators.md');
});
