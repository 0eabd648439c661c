import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { childrenOf } from './processes.ts';
import type { SkipOptions } from './takes-minutes.ts';
import { takesMinutes } from './takes-minutes.ts';

const RECIPE = join(import.meta.dirname, '../../infra/varnish/varve.vcl');

/**
 * Returns the options of a suite with a real Varnish: Debian's packages varnish and varnish-modules. CI installs them and
 * sets VARVE_REQUIRE_VARNISH=1, so that the suite fails there and is not skipped.
 */
export function longWithVarnish(what: string): SkipOptions {
  if (process.env['VARVE_REQUIRE_VARNISH'] === '1') return takesMinutes(what);
  const { status } = spawnSync('varnishd', ['-V']);
  if (status === 0) return takesMinutes(what);
  const skipReason = 'varnishd is not there: apt-get install varnish varnish-modules';
  return { skip: true, meta: { skipReason } };
}

export type Varnish = {
  readonly url: string;
  /** Stops or continues its processes. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  stop(): void;
};

/** Starts a Varnish with the documented recipe in front of a server on a port of this machine. */
export async function startVarnish(port: number, backend: number): Promise<Varnish> {
  const folder = mkdtempSync(join(tmpdir(), 'varve-varnish-'));
  const vcl = join(folder, 'varve.vcl');
  writeFileSync(vcl, readFileSync(RECIPE, 'utf8').replace('.port = "1337"', `.port = "${backend}"`));
  const listen = ['-a', `127.0.0.1:${port}`, '-n', folder];
  const args = ['-F', '-j', 'none', ...listen, '-f', vcl, '-s', 'malloc,64m', '-p', 'vcc_allow_inline_c=off'];
  const child: ChildProcess = spawn('varnishd', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (output += String(text)));
  const pid = child.pid ?? 0;
  const url = `http://127.0.0.1:${port}`;
  while (!(await answers(url))) {
    if (child.exitCode !== null) throw new Error(`varnishd ended: ${output}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    url,
    signal(signal) {
      for (const one of [pid, ...childrenOf(pid)]) process.kill(one, signal);
    },
    stop() {
      for (const one of [...childrenOf(pid), pid]) process.kill(one, 'SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function answers(url: string): Promise<boolean> {
  return fetch(url, { method: 'PURGE', headers: { 'xkey-purge': 'nothing' } }).then(
    ({ status }) => status === 200,
    () => false,
  );
}
