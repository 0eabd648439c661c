import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { freePort } from './elasticsearch-node.ts';
import type { SkipOptions } from './takes-minutes.ts';
import { takesMinutes } from './takes-minutes.ts';

const PACKAGE = {
  private: true,
  type: 'module',
  dependencies: { next: '16.4.6', react: '19.3.1', 'react-dom': '19.3.1', standardwebhooks: '1.1.1' },
};
const DOCS = join(import.meta.dirname, '../../docs');

/** Returns the code of a page's section about Next.js, adapted to the server under test and its content type `tag`. */
function recipes(page: string): readonly string[] {
  const [, section = ''] = readFileSync(join(DOCS, page), 'utf8').split('## Next.js');
  return [...section.matchAll(/```ts\n(.*?)```/gs)].map(([, code = '']) =>
    stripTypeScriptTypes(code)
      .replaceAll("tags: ['restaurants']", "tags: ['tags']")
      .replaceAll("tags: ['restaurant']", "tags: ['tag']")
      .replaceAll(
        /'https:\/\/cms.example.org\/api\/restaurants'/g,
        "(process.env.CMS + '/api/tags' + QUERY)",
      ),
  );
}

/** Returns the files of a site with one route for each recipe, and the routes for purges and webhooks. */
function files(): Readonly<Record<string, string>> {
  const [plain = '', exact = '', purges = ''] = recipes('caching.md');
  const [byModel = '', webhooks = ''] = recipes('webhooks.md');
  return {
    'package.json': JSON.stringify(PACKAGE),
    'next.config.js': 'export default { cacheComponents: true };',
    'app/plain/route.js': routeOf(plain, '?sort=key'),
    'app/by-model/route.js': routeOf(byModel, '?sort=name'),
    'app/api/webhook/route.js': webhooks,
    'app/restaurants.js': `const QUERY = '?filters[key][$startsWith]=a';\n${exact}`,
    'app/exact/route.js': `${DYNAMIC}
import { restaurants } from '../restaurants.js';
export async function GET() {
  await connection();
  return Response.json(await restaurants());
}`,
    'app/api/revalidate/route.js': purges,
  };
}

const DYNAMIC = "import { connection } from 'next/server';";

/** Returns a route that answers with the data that a recipe fetches. */
function routeOf(recipe: string, query: string): string {
  return `${DYNAMIC}
const QUERY = '${query}';
export async function GET() {
  await connection();
  const answer = ${recipe.trim().replace(/;$/, '')};
  return Response.json(await answer.json());
}`;
}

/** Returns the options of a suite with a real Next.js. It is skipped with the reason if npm cannot install it. */
export function longWithNext(what: string): SkipOptions {
  const options = takesMinutes(what);
  if (options.skip === true) return options;
  try {
    buildSite();
    return {};
  } catch (error) {
    if (process.env['VARVE_REQUIRE_NEXT'] === '1') throw error;
    return {
      skip: true,
      meta: { skipReason: `npm does not install Next.js: ${String(error).slice(0, 200)}` },
    };
  }
}

const NEXT = 'node_modules/next/dist/bin/next';

/** Is held by the process that builds the site or serves it: two would share its cache. */
const LOCK = 'site.lock';

/** Installs Next.js and builds the site, unless another process or an earlier run has done so. Returns its folder. */
function buildSite(): string {
  const all = files();
  const digest = createHash('sha256').update(JSON.stringify(all)).digest('hex').slice(0, 12);
  const folder = join(tmpdir(), `varve-next-${digest}`);
  if (existsSync(join(folder, '.next/BUILD_ID'))) return folder;
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const options = {
    cwd: folder,
    stdio: 'pipe',
    env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1' },
  } as const;
  const build = `test -e .next/BUILD_ID || { npm install --no-audit --no-fund && '${process.execPath}' ${NEXT} build; }`;
  execFileSync('flock', [LOCK, 'sh', '-c', build], { ...options, timeout: 900_000 });
  return folder;
}

export type SiteSecrets = { readonly purgeToken?: string; readonly webhookSecret?: string };

export type NextSite = {
  readonly url: string;
  /** Starts the site with the address of the content API and the secrets that authenticate its messages. */
  start(cms: string, secrets: SiteSecrets): Promise<void>;
  stop(): void;
};

/** Builds the site. Its port is known before it runs. */
export async function createNextSite(): Promise<NextSite> {
  const folder = buildSite();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  let child: ChildProcess | undefined;
  return {
    url,
    async start(cms, { purgeToken = '', webhookSecret = '' }) {
      const secrets = { PURGE_TOKEN: purgeToken, WEBHOOK_SECRET: webhookSecret };
      const env = { ...process.env, CMS: cms, ...secrets, NEXT_TELEMETRY_DISABLED: '1' };
      // The cache has answers of an earlier run.
      const serve = `rm -rf .next/cache && exec '${process.execPath}' ${NEXT} start -H 127.0.0.1 -p ${port}`;
      child = spawn('flock', ['-F', LOCK, 'sh', '-c', serve], { cwd: folder, env, stdio: 'ignore' });
      for (;;) {
        const status = await fetch(`${url}/api/revalidate`, { method: 'POST' }).then(
          (answer) => answer.status,
          () => 0,
        );
        if (status === 401) return;
        if (child.exitCode !== null) throw new Error('next start has ended');
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    stop: () => void child?.kill('SIGKILL'),
  };
}
