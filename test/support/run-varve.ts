import { spawnVarve } from './server.ts';

/** Exit code and output of a command that has ended. */
export type Ran = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** Runs a `varve` command to its end. */
export async function runVarve(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  const { child, exited } = spawnVarve(args, env);
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.on('data', (text: string) => {
      written[name] += text;
    });
  }
  const { code } = await exited;
  return { code, ...written };
}

/** Returns the JSON on stdout of a command. Throws with its whole output if it fails. */
export async function jsonOf<Json>(args: readonly string[]): Promise<Json> {
  const { code, stdout, stderr } = await runVarve(args);
  if (code !== 0) throw new Error(`varve ${args.join(' ')} ended with ${code}:\n${stdout}${stderr}`);
  return JSON.parse(stdout) as Json;
}
