import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { refuseUnusable } from '../../services/cli/settings/refuse-unusable.ts';
import { type ProcessRole, ROLE_SETTINGS } from '../../services/cli/settings/roles.ts';
import { variableOf } from '../../services/cli/settings/setting.ts';
import { parseServeSettings } from '../../services/cli/settings/settings.ts';
import { ROOT, readYaml, readYamlDocuments } from './read-yaml.ts';

/** A command of a file of this repository that starts `varve`. */
type Started = {
  readonly where: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
};

type Container = {
  readonly image: string;
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
};

const IMAGE_ENV = Object.fromEntries(
  [...readFileSync(join(ROOT, 'Dockerfile'), 'utf8').matchAll(/^(?:ENV| {4})\s*(VARVE_\w+)=(\S+)/gm)].map(
    ([, name = '', value = '']) => [name, value],
  ),
);

function fromCompose(): readonly Started[] {
  const { services } = readYaml<{
    services: Readonly<
      Record<string, { build?: unknown; command?: readonly string[]; environment?: Record<string, string> }>
    >;
  }>('docker-compose.yml');
  return Object.entries(services)
    .filter(([, { build }]) => build !== undefined)
    .map(([name, { command = [], environment = {} }]) => ({
      where: `docker-compose.yml ${name}`,
      args: command,
      env: environment,
    }));
}

function fromKubernetes(): readonly Started[] {
  const [map] = readYamlDocuments<{ data: Record<string, string> }>('infra/kubernetes/configuration.yaml');
  return ['api', 'project'].flatMap((file) =>
    readYamlDocuments<{ kind: string; spec: { template?: { spec: { containers: readonly Container[] } } } }>(
      `infra/kubernetes/${file}.yaml`,
    )
      .flatMap(({ spec }) => spec.template?.spec.containers ?? [])
      .map(({ args = [], env = [] }) => ({
        where: `infra/kubernetes/${file}.yaml`,
        args,
        env: { ...map?.data, ...Object.fromEntries(env.map(({ name, value = '' }) => [name, value])) },
      })),
  );
}

const started = [...fromCompose(), ...fromKubernetes()];

it('finds all commands that start varve', () => {
  expect(started.map(({ args }) => args[0]).sort()).toEqual([
    ...['api', 'api', 'api', 'project', 'project', 'project'],
  ]);
  expect(Object.keys(IMAGE_ENV)).toContain('VARVE_CONTENT_TYPES');
});

describe.each(started)('$where', ({ args: [role = '', ...options], env }) => {
  const table = ROLE_SETTINGS[role as ProcessRole];

  it('names only settings of its role', () => {
    const variables = new Set<string>(Object.values(table).map(variableOf));
    for (const name of Object.keys(env).filter((each) => each.startsWith('VARVE_')))
      expect(variables, name).toContain(name.replace(/_FILE$/, ''));
    const flags = new Set(Object.values(table).map((setting) => setting.flags.split(' ')[0]));
    for (const option of options.filter((each) => each.startsWith('--')))
      expect(flags, option).toContain(option.split('=')[0]);
  });

  it('is not refused', () => {
    const all: Readonly<Record<string, string>> = { ...IMAGE_ENV, ...env };
    const given = Object.fromEntries(
      Object.entries(table).map(([name, setting]) => {
        const variable = variableOf(setting);
        const value = all[variable] ?? (`${variable}_FILE` in all ? SECRETS[variable] : undefined);
        return [name, value?.replace(/\$\{\w+:-(.*)\}/, '$1')];
      }),
    );
    const settings = parseServeSettings(given);
    expect(() => refuseUnusable(role as ProcessRole, settings)).not.toThrow();
    expect(settings).toMatchObject({
      network: { host: '0.0.0.0' },
      data: { eventStore: SECRETS['VARVE_EVENT_STORE'] },
    });
  });
});

const SECRETS: Readonly<Record<string, string>> = {
  VARVE_ACCESS_KEY: 'a'.repeat(43),
  VARVE_EVENT_STORE: 'kurrentdb://kurrentdb:2113?tls=false',
  VARVE_READ_INDEX_PASSWORD: 'secret',
};

it('does not set the append limit of KurrentDB: from 25.1 on any value would lower it', () => {
  const { services } = readYaml<{
    services: Record<string, { image: string; environment: Record<string, string> }>;
  }>('docker-compose.yml');
  const { image, environment } = services['kurrentdb'] ?? { image: '', environment: {} };
  const [, major, minor] = /:(\d+)\.(\d+)/.exec(image) ?? [];
  expect(Number(major) * 100 + Number(minor)).toBeGreaterThanOrEqual(2_501);
  expect(Object.keys(environment).filter((name) => /MAX_APPEND/.test(name))).toEqual([]);
});
