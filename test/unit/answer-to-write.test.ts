import { expect, it } from 'vitest';
import { answerToWrite } from '../../services/http/api/answer-to-write.ts';
import { RequestError } from '../../shared/request-error.ts';
import { QueryTooExpensive } from '../../shared/turns/query-too-expensive.ts';

it('asks for an answer that waits its turn however many wait', async () => {
  expect(await answerToWrite(async ({ isOwed }) => isOwed)).toBe(true);
});

it.each([new QueryTooExpensive(5), new RequestError('busy', 'busy')])(
  'is nothing, not an error, where the answer fails for the work it takes: %s',
  async (error) => {
    expect(await answerToWrite(() => Promise.reject(error))).toBeNull();
  },
);

it('passes every other error on', async () => {
  const error = new RequestError('not-found', 'Not Found');
  await expect(answerToWrite(() => Promise.reject(error))).rejects.toBe(error);
});
