import { expect, it } from 'vitest';
import { presentError } from '../../services/http/answers/error-envelope.ts';
import { RequestError } from '../../shared/request-error.ts';

it('answers an error that Strapi knows with the same bytes as Strapi', () => {
  const error = new RequestError('invalid-body', 'name is a required field', { errors: [] });
  expect(JSON.stringify(presentError(error))).toBe(
    '{"data":null,"error":{"status":400,"name":"ValidationError","message":"name is a required field","details":{"errors":[]}}}',
  );
});

it('includes the code of an error that Strapi does not have', () => {
  expect(presentError(new RequestError('no-leader', 'There is no leader'))).toEqual({
    data: null,
    error: {
      status: 503,
      name: 'ServiceUnavailableError',
      message: 'There is no leader',
      details: {},
      code: 'no-leader',
    },
  });
});

it('reveals nothing of an unexpected error', () => {
  expect(presentError(new TypeError('secret'))).toEqual({
    data: null,
    error: { status: 500, name: 'InternalServerError', message: 'Internal Server Error' },
  });
});
