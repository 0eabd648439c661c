import fs, { realpathSync } from 'node:fs';
import Module, { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { types } from 'node:util';

type Functions = Record<string, unknown>;
type AnyFunction = (...args: unknown[]) => unknown;

/**
 * Limits the foreign code that runs in this process afterwards, where Node's permissions do not: symbolic links point out of `root`, signals
 * and priorities reach other processes. The code may replace methods of JavaScript's own objects, so the checks call none of them.
 */
export function confineModule(root: string): void {
  const check = createCheck(root);
  // These read files by names that nobody checks.
  for (const functions of [fs, fs.promises]) remove(functions, ['glob', 'globSync']);
  remove(process.getBuiltinModule('node:sqlite'), ['DatabaseSync', 'backup']);
  remove(Module, ['register', 'registerHooks']);
  for (const functions of [fs, fs.promises] as unknown as Functions[])
    for (const name of functionsIn(functions)) checkArgument(functions, name, 0, check);
  checkArgument(process as unknown as Functions, 'loadEnvFile', 0, check);
  const { _extensions: extensions } = Module as unknown as { readonly _extensions: Functions };
  for (const name of Object.keys(extensions)) checkArgument(extensions, name, 1, check);
  // With another working directory a relative path would be another file than the one that was checked.
  remove(process, ['kill', '_kill', '_debugProcess', '_debugEnd', 'chdir']);
  remove(os, ['setPriority']);
  syncBuiltinESMExports();
}

/** Returns the names of functions. Classes keep their methods: a stream opens its file with a function that is checked. */
function functionsIn(functions: Functions): string[] {
  return Object.keys(functions).filter(
    (name) => /^[a-z]/.test(name) && typeof functions[name] === 'function',
  );
}

function checkArgument(functions: Functions, name: string, at: number, check: (value: unknown) => unknown) {
  const original = functions[name] as AnyFunction;
  const { apply } = Reflect;
  const checked = Object.assign(function (this: unknown, ...args: unknown[]) {
    args[at] = check(args[at]);
    return apply(original, this, args);
  }, original);
  Object.defineProperty(functions, name, { value: checked, writable: true, configurable: true });
}

function remove(functions: object, names: readonly string[]): void {
  for (const name of names)
    Object.defineProperty(functions, name, { value: undefined, writable: false, configurable: false });
}

/** Returns a function that returns the path in an argument as a text, and throws if it is outside of `root`. */
function createCheck(root: string): (value: unknown) => unknown {
  const folder = root + path.sep;
  const slice = Function.prototype.call.bind(String.prototype.slice) as (
    text: string,
    ...at: number[]
  ) => string;
  const realPath = realpathSync.native;
  return (value) => {
    const text = textOf(value);
    if (typeof text !== 'string') return text;
    let real: string;
    try {
      real = realPath(text);
    } catch {
      // The caller gets the error of the function itself.
      return text;
    }
    if (real === root || slice(real, 0, folder.length) === folder) return text;
    throw new Error(`${text} is outside of the project`);
  };
}

const textOfBytes = Function.prototype.call.bind(Buffer.prototype.toString) as (bytes: unknown) => string;
const { isUint8Array } = types;

/** Returns a path as a text, which cannot change after the check, and a file's number as it is. */
function textOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return isUint8Array(value) ? textOfBytes(value) : fileURLToPath(value as URL);
}
