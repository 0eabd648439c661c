import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type RunningServer, type ServerOptions, startServer } from '../support/server.ts';

/** The programs of the corpus. They only use HTTP. */
const LOAD = fileURLToPath(new URL('load.mjs', import.meta.url));
const RUN = fileURLToPath(new URL('run.mjs', import.meta.url));
export const DISPUTED = fileURLToPath(new URL('disputed.json', import.meta.url));

/** Settings under which the answers were recorded. */
export const AS_RECORDED = { VARVE_USERS_ENVELOPE: 'false' } as const;

/** Starts a server with the schema and fixtures of the corpus. By default it answers users in Strapi's form. */
export async function startLoadedServer(
  options: ServerOptions = { env: AS_RECORDED },
): Promise<RunningServer> {
  const server = await startServer(options);
  try {
    await loadFixtures(server.url);
    return server;
  } catch (error) {
    const serverOutput = server.output();
    await server.dispose();
    throw new Error(`${(error as Error).message}\n${serverOutput}`);
  }
}

/** Writes the corpus fixtures through the API at `url`. */
export async function loadFixtures(url: string): Promise<void> {
  const load = await runProgram(LOAD, ['--base', url], 'collect');
  if (load.code !== 0) throw new Error(`load.mjs failed:\n${load.output}`);
}

/** Runs the corpus against `url`. With `show`, it prints its output at once. */
export function runCorpus(
  url: string,
  args: readonly string[],
  output: 'show' | 'collect',
): Promise<{ readonly code: number; readonly output: string }> {
  return runProgram(RUN, ['--base', url, '--disputed', DISPUTED, ...args], output);
}

async function runProgram(program: string, args: readonly string[], output: 'show' | 'collect') {
  const stdio = output === 'show' ? 'inherit' : 'pipe';
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', stdio, stdio] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  }
  const [code] = await once(child, 'close');
  return { code: (code as number | null) ?? 1, output: text };
}
