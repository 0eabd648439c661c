import { stripTypeScriptTypes } from 'node:module';

/** Returns a module without its types. Node removes them in the same way from the modules that it runs itself. */
export function stripModule(source: string): string {
  const { emitWarning } = process;
  // Node warns on stderr at the first call that the function may change. The call is synchronous, so no other warning is lost.
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(source);
  } finally {
    process.emitWarning = emitWarning;
  }
}
