import { join } from 'node:path';
import { expect, it } from 'vitest';
import { registeredFields } from '../../services/project/registered-fields.ts';
import { strapiProject } from '../support/strapi-project.ts';

const fieldsOf = (files: { readonly [file: string]: string }) =>
  registeredFields(join(strapiProject(files), 'src'));

it('reads the custom fields that the code of a project registers', () => {
  const found = fieldsOf({
    'src/index.js':
      'module.exports = { register({ strapi }) { strapi.customFields.register([{ name: \'map\', type: \'json\', inputSize: { default: 4 } }, { type: "text", name: "note" }]); } };',
    'src/plugins/rating/server/src/register.ts':
      "export default ({ strapi }: { strapi: any }) => { strapi.customFields.register({ name: PLUGIN_ID, plugin: PLUGIN_ID, type: 'integer' as const }); };",
    'src/plugins/rating/strapi-server.js':
      "strapi?.customFields?.register({ name: 'stars', plugin: 'ratings', type: `decimal` });",
  });
  expect(found).toEqual({
    'global::map': 'json',
    'global::note': 'text',
    'plugin::rating.rating': 'integer',
    'plugin::ratings.stars': 'decimal',
  });
});

it('takes nothing from the admin panel, from packages, from generated files and from types that are not literals', () => {
  const call = "strapi.customFields.register({ name: 'a', plugin: 'p', type: 'json' });";
  const found = fieldsOf({
    'src/plugins/p/admin/src/index.js': call,
    'src/plugins/p/node_modules/q/index.js': call,
    'src/plugins/p/server/large.js': `${call}${' '.repeat(600_000)}`,
    'src/plugins/p/server/index.js': "strapi.customFields.register({ name: 'a', plugin: 'p', type: TYPE });",
    'src/plugins/p/server/broken.js': "strapi.customFields.register({ name: 'a', plugin: 'p'",
  });
  expect(found).toEqual({});
});
