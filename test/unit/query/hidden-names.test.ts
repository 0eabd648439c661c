import { describe, expect, it } from 'vitest';
import { planOf, refusalOf } from '../../support/naive-schema.ts';

/** Every place of a query string that can contain a name. `%` represents the name of an attribute of the requested type. */
const SURFACES = [
  'filters[%]=1',
  'filters[%][$null]=true',
  'filters[$not][%]=1',
  'filters[$or][0][%][$gt]=1',
  'filters[$and][0][$or][0][%]=1',
  'sort=%',
  'sort[%]=desc',
  'sort[0]=%:desc',
  'sort[%]=52.52,13.4',
  'fields=%',
  'fields[0]=%',
  'populate=%',
  'populate[0]=%',
  'populate[%]=true',
  'facets=%',
  'facets[%][limit]=2',
  'highlight=%',
  'distinct=%',
  'distinct[%][limit]=2',
];

const HIDDEN = [
  ['chef', 'salary'],
  ['restaurant', 'internalNote'],
  ['restaurant', 'secretPin'],
  ['restaurant', 'createdBy'],
  ['restaurant', 'updatedBy'],
  ['restaurant', 'locale'],
  ['restaurant', 'localizations'],
  ['plugin::users-permissions.user', 'password'],
  ['plugin::users-permissions.user', 'resetPasswordToken'],
  ['plugin::users-permissions.user', 'role'],
] as const;

describe('a hidden name is refused like an unknown one', () => {
  for (const surface of SURFACES) {
    it.each(HIDDEN)(`${surface}: %s.%s`, (type, name) => {
      const refusal = (key: string) => refusalOf(() => planOf(surface.replaceAll('%', key), type));
      const [hidden, unknown] = [refusal(name), refusal('zzz')];
      expect(hidden.code).toBe(unknown.code);
      expect(hidden.message).toBe(unknown.message.replaceAll('zzz', name));
      expect(hidden.details['accepted']).toEqual(unknown.details['accepted']);
      expect(hidden.details['accepted']).not.toContain(name);
    });
  }

  it.each([
    'filters[chef][%]=1',
    'filters[chef][restaurants][chef][%][$gt]=1',
    'filters[tags][restaurants][chef][$or][0][%]=1',
    'sort=chef.%',
    'sort[chef][%]=desc',
    'sort[chef][%]=52.52,13.4',
    'populate[chef][filters][%]=1',
    'populate[chef][sort]=%',
    'populate[chef][fields]=%',
    'populate[menu][populate][restaurant][populate][chef][filters][%]=1',
    'populate=chef.%',
    'populate[chef][%]=true',
  ])('at any depth: %s', (surface) => {
    const refusal = (key: string) => refusalOf(() => planOf(surface.replaceAll('%', key)));
    const [hidden, unknown] = [refusal('salary'), refusal('zzz')];
    expect(hidden.code).toBe('invalid-query');
    expect(hidden.message).toBe(unknown.message.replaceAll('zzz', 'salary'));
    expect(JSON.stringify(hidden.details)).toBe(JSON.stringify(unknown.details).replaceAll('zzz', 'salary'));
  });
});
