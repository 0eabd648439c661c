const OLDEST = 24;

/** Returns why a version of Node (as in `process.versions.node`) cannot be used; undefined if it can. */
export function nodeProblem(version: string): string | undefined {
  if (Number(version.split('.')[0]) >= OLDEST) return undefined;
  return `varve needs Node ${OLDEST} or newer, and this is Node ${version}: install a newer one from https://nodejs.org`;
}
