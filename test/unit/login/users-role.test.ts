import { expect, it } from 'vitest';
import { asksForRole, withRole } from '../../../services/http/routes/users-role.ts';
import { EVERY_ROLE } from '../../../shared/access/login-state.ts';

it.each(['role', '*', 'role.permissions', 'cook,role'])('populate=%s asks for the role', (value) => {
  expect(asksForRole(`populate=${value}`)).toBe(true);
  expect(asksForRole(`populate[0]=cook&populate[1]=${value}`)).toBe(true);
});

it.each(['populate[role]=true', 'populate[role][fields][0]=name', 'populate%5B0%5D=role'])(
  '%s does',
  (query) => {
    expect(asksForRole(query)).toBe(true);
  },
);

it.each([
  '',
  'fields=role',
  'populate=cook',
  'populate=roles',
  'populate[role]=false',
  'populate=',
  'populate',
])('"%s" does not', (query) => expect(asksForRole(query)).toBe(false));

it('adds the role to the bytes of a user', () => {
  const role = { ...EVERY_ROLE, id: 3, type: 'editor', name: 'An "editor"', description: '' };
  expect(JSON.parse(Buffer.from(withRole(Buffer.from('{"id":1}'), role)).toString())).toEqual({
    id: 1,
    role: { id: 3, name: 'An "editor"', description: '', type: 'editor' },
  });
});
