import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
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
  'change the priority of its parent': "require('os').setPriority(process.ppid, 19); return 'done';",
  'replace itself by another program': "process.execve('/bin/true', [], {}); return 'done';",
  'read the memory of a process': "require('fs').readFileSync('/proc/self/environ'); return 'done';",
  'open a debugger': "require('inspector').open(0); return 'done';",
  'read a link out of the project': "require('fs').readFileSync('link'); return 'done';",
  'read a file below a linked folder': "require('fs').readFileSync('dir/secret'); return 'done';",
  'list a linked folder': "require('fs').readdirSync('dir'); return 'done';",
  'list a linked folder by a pattern': "return require('fs').globSync('dir/*').length > 0 ? 'done' : 'no';",
  'open a link': "require('fs').openSync('link'); return 'done';",
  'open a link by its bytes': "require('fs').openSync(Buffer.from('link')); return 'done';",
  'open a link by a text that changes':
    "let n = 0; require('fs').openSync({ toString: () => (n++ ? 'link' : 'config') }); return 'done';",
  'open a link by an address that changes':
    "const url = require('url').pathToFileURL(require('path').resolve('config/api.js')); let n = 0; Object.defineProperty(url, 'pathname', { get: () => (n++ ? require('path').resolve('link') : '/nowhere') }); require('fs').readFileSync(url); return 'done';",
  'read a link later': "return require('fs').promises.readFile('link').then(() => 'done');",
  'read a link as variables': "process.loadEnvFile('link'); return 'done';",
  'run a link as a module':
    "require.extensions['.js'](module, require('path').resolve('link')); return 'done';",
  'load a link': "require('../data.json'); return 'done';",
  'open a linked database': "new (require('node:sqlite').DatabaseSync)('link'); return 'done';",
  'move to another folder': "process.chdir('dir'); return 'done';",
  'change the checks':
    "String.prototype.slice = String.prototype.startsWith = () => process.cwd() + '/'; require('fs').readFileSync('link'); return 'done';",
  'get the functions back':
    "delete require('fs').readFileSync; require('fs').readFileSync('link'); return 'done';",
};
const VARIABLES = [
  'NODE_OPTIONS=--allow-child-process --allow-fs-write=* --allow-fs-read=* --allow-worker --allow-addons',
  'LD_PRELOAD=/nowhere/evil.so',
  'NODE_REPL_EXTERNAL_MODULE=/nowhere/evil.js',
  'SECRET=of the project',
].join('\n');

it('a configuration cannot leave its project, whatever .env says', () => {
  const attempts = Object.entries(ATTEMPTS).map(
    ([name, attempt]) => `${JSON.stringify(name)}: () => { ${attempt} }`,
  );
  const root = strapiProject({
    'config/api.js': `module.exports = async () => {
      const ended = {};
      for (const [name, attempt] of Object.entries({ ${attempts.join(',\n')} }))
        try { ended[name] = await attempt(); } catch (error) { ended[name] = error.message; }
      return ended;
    };`,
    '.env': VARIABLES,
  });
  const outside = mkdtempSync(join(tmpdir(), 'varve-outside-'));
  onTestFinished(() => rmSync(outside, { recursive: true }));
  writeFileSync(join(outside, 'secret'), '{}');
  for (const [link, target] of [
    ['link', 'secret'],
    ['data.json', 'secret'],
    ['dir', '.'],
  ] as const)
    symlinkSync(join(outside, target), join(root, link));
  const evaluated = createEvaluateModule(root)(join(root, 'config/api.js'));
  if (evaluated.kind !== 'value') throw new Error(evaluated.reason);
  const ended = evaluated.value as Readonly<Record<string, string>>;
  expect(Object.keys(ended)).toEqual(Object.keys(ATTEMPTS));
  expect(Object.keys(ended).filter((name) => ended[name] === 'done')).toEqual([]);
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

it('evaluates a configuration in a process group of its own', async () => {
  const root = strapiProject({ 'config/api.js': 'for (;;);' });
  const program = new URL('../../services/project/evaluate-project.ts', import.meta.url);
  const call = `import { createEvaluateModule } from ${JSON.stringify(program)}; createEvaluateModule(${JSON.stringify(root)}, 3000)(${JSON.stringify(join(root, 'config/api.js'))});`;
  const parent = spawn(process.execPath, ['--input-type=module', '--eval', call], { stdio: 'ignore' });
  const ended = new Promise((resolve) => parent.once('exit', resolve));
  const group = await vi.waitUntil(
    () => {
      const processes = execFileSync('ps', ['-A', '-o', 'ppid=,pid=,pgid='], { encoding: 'utf8' });
      const [, child, its] = new RegExp(`^ *${parent.pid} +(\\d+) +(\\d+)$`, 'm').exec(processes) ?? [];
      return child === undefined ? undefined : { isOwn: child === its };
    },
    { timeout: 60_000, interval: 50 },
  );
  expect(group).toEqual({ isOwn: true });
  await ended;
}, 300_000);
