import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium } from 'playwright-core';
import { type SkipOptions, takesMinutes } from './takes-minutes.ts';

const EXECUTABLE = '/usr/bin/chromium';
/** Limit of each action and wait. Playwright's own 30 s are too short while other tests use both cores. */
const PATIENT_MS = 90_000;

/**
 * Returns the reason why there is no browser, in one line, or undefined if there is one. CI installs Debian's package and sets
 * VARVE_REQUIRE_CHROMIUM=1, so that a browser test fails there and is not skipped.
 */
export function whyNoBrowser(
  env: Readonly<Record<string, string | undefined>> = process.env,
  executable = EXECUTABLE,
): string | undefined {
  if (env['VARVE_REQUIRE_CHROMIUM'] === '1') return undefined;
  if (!existsSync(executable)) return `${executable} is not there: apt-get install chromium`;
  const { status, error, stderr } = spawnSync(executable, ['--version'], { encoding: 'utf8' });
  if (status === 0) return undefined;
  return `${executable} does not run: ${error?.message ?? stderr.trim().split('\n').at(-1)}`;
}

/** Returns the options of a long suite in a browser. */
export function longInBrowser(what: string): SkipOptions {
  const whyNot = whyNoBrowser();
  return whyNot === undefined ? takesMinutes(what) : { skip: true, meta: { skipReason: whyNot } };
}

export type Browser = { readonly context: BrowserContext; close(): Promise<void> };

/** Opens a browser with a new profile. It makes no connections except those of its pages. */
export async function openBrowser(): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'varve-chromium-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: EXECUTABLE,
    headless: true,
    chromiumSandbox: false,
    viewport: { width: 1280, height: 1000 },
    args: [
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
  context.setDefaultTimeout(PATIENT_MS);
  return {
    context,
    async close() {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}
