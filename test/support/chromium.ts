import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium } from 'playwright-core';

const EXECUTABLE = '/usr/bin/chromium';

/** Debian's package. CI installs it and sets the variable: there a browser test never skips. */
export const hasChromium = existsSync(EXECUTABLE) || process.env['VARVE_REQUIRE_CHROMIUM'] === '1';

if (!hasChromium)
  console.log(`${EXECUTABLE} is not there (apt-get install chromium): browser tests are skipped`);

export type Browser = { readonly context: BrowserContext; close(): Promise<void> };

/** A browser with a profile of its own that makes no connections on its own account. */
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
  return {
    context,
    async close() {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}
