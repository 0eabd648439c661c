import { expect, it } from 'vitest';
import { answerToWrite } from '../../services/http/api/answer-to-write.ts';
import { RequestError } from '../../shared/request-error.ts';
import { QueryTooExpensive } from '../../shared/turns/query-too-expensive.ts';

it('requests an answer that is never refused, for any number of waiting requests', async () => {
  expect(await answerToWrite(async ({ isOwed }) => isOwed)).toBe(true);
});

it.each([new QueryTooExpensive(5), new RequestError('busy', 'busy')])(
  'is empty, and not an error, if the answer takes too much work: %s',
  async (error) => {
    expect(await answerToWrite(() => Promise.reject(error))).toBeNull();
  },
);

it('rejects with every other error', async () => {
  const error = new RequestError('not-found', 'Not Found');
  await expect(answerToWrite(() => Promise.reject(error))).rejects.toBe(error);
});
