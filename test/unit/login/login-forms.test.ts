import { expect, it } from 'vitest';
import { readForm } from '../../../services/login/login-forms.ts';
import { RequestError } from '../../../shared/request-error.ts';

const notText = (found: string) =>
  `password must be a \`string\` type, but the final value was: \`${found}\`.`;

it.each([
  [{}, 'password is a required field'],
  [{ password: '' }, 'password is a required field'],
  [{ password: null }, notText('null')],
  [{ password: 5 }, notText('5')],
])('the answer to %j is that of Strapi', (given, message) => {
  const read = () => readForm('credentials', { identifier: 'anna', ...given });
  expect(read).toThrow(RequestError);
  expect(read).toThrow(message);
});
