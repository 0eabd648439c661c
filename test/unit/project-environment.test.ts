import { expect, it, onTestFinished, vi } from 'vitest';
import { readApiConfig } from '../../services/project/read-api-config.ts';
import { readCorsConfig } from '../../services/project/read-cors-config.ts';
import { strapiProject as project } from '../support/strapi-project.ts';

it.each([
  ['of the environment', { NODE_ENV: 'production' }, '', { maxLimit: 9, defaultLimit: 8 }],
  ["of the project's .env", { NODE_ENV: undefined }, 'NODE_ENV=production', { maxLimit: 9, defaultLimit: 8 }],
  ['development', { NODE_ENV: undefined }, '', { maxLimit: 7, defaultLimit: 2 }],
  ['development if it is empty', { NODE_ENV: '' }, 'NODE_ENV=production', { maxLimit: 7, defaultLimit: 2 }],
  ['that has no file', { NODE_ENV: 'staging' }, '', { maxLimit: 3, defaultLimit: 2 }],
])('merges the configuration of an environment over the other one: %s', (_, variables, dotEnv, wanted) => {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  const folder = project({
    'config/api.js':
      "module.exports = { rest: { maxLimit: 3, defaultLimit: 2 }, responses: { privateAttributes: ['a', 'b'] } };",
    'config/env/production/api.js':
      "module.exports = ({ env }) => ({ rest: { maxLimit: 9, defaultLimit: env('NODE_ENV') === 'production' ? 8 : 1 } });",
    'config/env/development/api.json': '{ "rest": { "maxLimit": 7 } }',
    '.env': dotEnv,
  });
  expect(readApiConfig(folder)).toMatchObject({ ...wanted, privateAttributes: ['a', 'b'] });
});

it('merges lists of an environment by their places, as Strapi does, and reads its file alone', () => {
  vi.stubEnv('NODE_ENV', 'production');
  onTestFinished(() => void vi.unstubAllEnvs());
  const own = {
    'config/env/production/api.js': "module.exports = { responses: { privateAttributes: ['c'] } };",
  };
  expect(readApiConfig(project(own))).toMatchObject({ privateAttributes: ['c'] });
  const both = project({
    ...own,
    'config/api.js': "module.exports = { responses: { privateAttributes: ['a', 'b'] } };",
  });
  expect(readApiConfig(both)).toMatchObject({
    privateAttributes: ['c', 'b'],
    file: expect.stringMatching(/config\/api\.js and .*config\/env\/production\/api\.js$/),
  });
  const listed = project({
    'config/env/production/middlewares.js':
      "module.exports = [{ name: 'strapi::cors', config: { origin: 'https://example.org' } }];",
  });
  expect(readCorsConfig(listed)).toMatchObject({ origins: ['https://example.org'] });
});

it('refuses a configuration of an environment that cannot be read, if either makes attributes private', () => {
  vi.stubEnv('NODE_ENV', 'production');
  onTestFinished(() => void vi.unstubAllEnvs());
  const broken = { 'config/env/production/api.js': "require('nonsense');" };
  const hiding = { 'config/api.js': "module.exports = { responses: { privateAttributes: ['a'] } };" };
  expect(() => readApiConfig(project({ ...broken, ...hiding }))).toThrow(/makes attributes private/);
  expect(readApiConfig(project(broken))).toMatchObject({
    maxLimit: 100,
    failure: expect.stringContaining('nonsense'),
  });
});
