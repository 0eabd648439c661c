import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { ROOT, readYaml } from './read-yaml.ts';

type Service = {
  readonly image: string;
  readonly command?: readonly string[];
  readonly read_only?: boolean;
  readonly user?: string;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly networks?: readonly string[];
  readonly restart?: string;
  readonly build?: unknown;
  readonly healthcheck?: unknown;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly deploy?: { readonly resources?: { readonly limits?: { cpus?: string; memory?: string } } };
};

type Compose = {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: object;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
};

const compose = readYaml<Compose>('docker-compose.yml');
const services = Object.entries(compose.services);
const varve = services.filter(([, { build }]) => build !== undefined);

it('is valid by the compose specification', () => {
  const ajv = new Ajv2020({ allErrors: true, strict: false });
  // The module is CommonJS: for Node its default export is the function, for its types it is the module.
  (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
  const schema = JSON.parse(readFileSync(join(ROOT, 'infra/schemas/compose-spec.json'), 'utf8'));
  const validate = ajv.compile(schema);
  expect(validate(compose), JSON.stringify(validate.errors, null, 2)).toBe(true);
  // The schema does refuse wrong files.
  expect(validate({ services: { one: { imagee: 'x' } } })).toBe(false);
});

const hasCompose = spawnSync('docker', ['compose', 'version']).status === 0;

it('is accepted by docker compose itself', (context) => {
  if (!hasCompose) context.skip('docker compose is not installed');
  const config = spawnSync('docker', ['compose', 'config', '--quiet'], { cwd: ROOT, encoding: 'utf8' });
  expect(config.status, config.stderr).toBe(0);
});

it('has two processes of each role, a log, an index and a proxy', () => {
  const commands = varve.map(([, { command }]) => command?.[0]).sort();
  expect(commands).toEqual(['api', 'api', 'project', 'project']);
  expect(services.map(([name]) => name)).toEqual(
    expect.arrayContaining(['kurrentdb', 'elasticsearch', 'proxy']),
  );
});

describe.each(services)('%s', (_name, service) => {
  it('has a pinned image and bounded resources', () => {
    expect(service.image).toMatch(/:v?\d+\.\d+/);
    expect(service.deploy?.resources?.limits).toMatchObject({
      cpus: expect.any(String),
      memory: expect.any(String),
    });
  });

  it('has a health check, in its image or here, unless it ends by itself', () => {
    const known = service.build !== undefined || service.healthcheck !== undefined;
    expect(known || service.restart === 'no').toBe(true);
  });

  it('names only existing volumes and secrets', () => {
    const named = (service.volumes ?? []).map(
      (volume) => volume.replace(/\$\{.*\}/, './x').split(':')[0] ?? '',
    );
    for (const volume of named.filter((one) => !one.startsWith('.')))
      expect(compose.volumes).toHaveProperty([volume]);
    for (const bind of (service.volumes ?? []).filter((one) => one.startsWith('./')))
      expect(existsSync(join(ROOT, bind.split(':')[0] ?? '')), bind).toBe(true);
    for (const secret of service.secrets ?? []) expect(compose.secrets).toHaveProperty([secret]);
  });

  it('has no secret in its environment', () => {
    for (const [variable, value] of Object.entries(service.environment ?? {}))
      if (/PASSWORD|KEY|TOKEN|EVENT_STORE/.test(variable))
        expect(value, variable).toMatch(/^\/run\/secrets\//);
  });

  it('waits only for existing services', () => {
    for (const name of Object.keys(service.depends_on ?? {})) expect(compose.services).toHaveProperty([name]);
  });
});

describe.each(varve)('%s, which runs Varve', (_name, service) => {
  it('has no rights and a root file system that it cannot write', () => {
    expect(service).toMatchObject({
      read_only: true,
      user: '1000:1000',
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
  });
});

it('shares no content graph between processes', () => {
  const data = varve.flatMap(([, { volumes = [] }]) => volumes.filter((volume) => volume.endsWith(':/data')));
  expect(data).toHaveLength(2);
  expect(new Set(data).size).toBe(2);
});

it('publishes only the proxy, by default only to this machine, and no database', () => {
  const published = services.filter(([, { ports }]) => ports !== undefined).map(([name]) => name);
  expect(published).toEqual(['proxy']);
  expect(compose.services['proxy']?.ports?.[0]).toMatch(/^\$\{VARVE_BIND:-127\.0\.0\.1\}:/);
  for (const name of ['kurrentdb', 'elasticsearch'])
    expect(compose.services[name]?.networks).toEqual(['backend']);
  expect(compose.networks['backend']?.internal).toBe(true);
});

it('keeps secrets out of version control', () => {
  for (const { file } of Object.values(compose.secrets)) expect(file).toMatch(/^\.\/infra\/secrets\//);
  expect(readFileSync(join(ROOT, '.gitignore'), 'utf8').split('\n')).toContain('/infra/secrets/');
});

it('sends requests to every api process, and health and metrics to none', () => {
  const caddyfile = readFileSync(join(ROOT, 'infra/caddy/Caddyfile'), 'utf8');
  const targets = /^\s*reverse_proxy (.+) \{$/m.exec(caddyfile)?.[1]?.split(' ');
  const apis = varve.filter(([, { command }]) => command?.[0] === 'api').map(([name]) => `${name}:1337`);
  expect(targets?.sort()).toEqual(apis.sort());
  expect(caddyfile).toMatch(/@inside path \/metrics \/health\/\*\n\s*respond @inside 404/);
});
