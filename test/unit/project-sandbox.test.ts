import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createEvaluateModule } from '../../services/project/evaluate-project.ts';
import { strapiProject } from '../support/strapi-project.ts';

/** Attempts of a project's configuration to leave its limits. Each returns `done` if it succeeds. */
const marker = join(tmpdir(), `varve-escaped-${process.pid}`);
const ATTEMPTS: Readonly<Record<string, string>> = {
  'start a program': `require('child_process').execFileSync('touch', [${JSON.stringify(marker)}]); return 'done';`,
  'start a thread': "new (require('worker_threads').Worker)('0', { eval: true }); return 'done';",
  'write a file': `require('fs').writeFileSync(${JSON.stringify(marker)}, ''); return 'done';`,
  'read a file of the machine': "require('fs').readFileSync('/etc/passwd'); return 'done';",
  'signal its parent': "process.kill(process.ppid, 0); return 'done';",
  'signal its parent another way': "process._kill(process.ppid, 0); return 'done';",
  'signal its group': "require('process').kill(0, 0); return 'done';",
  'make its parent listen for a debugger': "process._debugProcess(process.ppid); return 'done';",
  'bring signals back': "delete process.kill; process.kill = 1; return process.kill === 1 ? 'done' : 'no';",
  'load a native module':
    "process.dlopen({ exports: {} }, '/lib/x86_64-linux-gnu/libc.so.6'); return 'done';",
  "use Node's internals": "process.binding('spawn_sync'); return 'done';",
};
const VARIABLES = [
  'NODE_OPTIONS=--allow-child-process --allow-fs-write=* --allow-fs-read=* --allow-worker --allow-addons',
  'LD_PRELOAD=/nowhere/evil.so',
  'NODE_REPL_EXTERNAL_MODULE=/nowhere/evil.js',
  'SECRET=of the project',
].join('\n');

it.each(Object.entries(ATTEMPTS))('a configuration cannot %s, whatever .env says', (_, attempt) => {
  const root = strapiProject({
    'config/api.js': `module.exports = () => { try { ${attempt} } catch (error) { return error.message; } };`,
    '.env': VARIABLES,
  });
  const evaluated = createEvaluateModule(root)(join(root, 'config/api.js'));
  expect(evaluated).toMatchObject({ kind: 'value', value: expect.not.stringMatching(/^done$/) });
  expect(existsSync(marker)).toBe(false);
});

it("gives a configuration the project's variables, by the helper and by process.env", () => {
  const root = strapiProject({
    'config/api.js': "module.exports = ({ env }) => [env('SECRET'), process.env.SECRET, process.env.HOME];",
    '.env': VARIABLES,
  });
  expect(createEvaluateModule(root)(join(root, 'config/api.js'))).toEqual({
    kind: 'value',
    value: ['of the project', 'of the project', null],
  });
});
