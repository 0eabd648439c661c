import { expect, it } from 'vitest';
import { createStepCount } from '../../../shared/read-index/elasticsearch/read/search-steps.ts';
import { RequestError } from '../../../shared/request-error.ts';

it('refuses a page of more than 128 steps of the score', () => {
  const count = createStepCount();
  for (let step = 0; step < 128; step++) count();
  expect(count).toThrow(RequestError);
  expect(count).toThrow('more than 128 groups of entries');
});
