const OLDEST = 24;

/** Says what is wrong with a version of Node, as in `process.versions.node`; undefined: nothing. */
export function nodeProblem(version: string): string | undefined {
  if (Number(version.split('.')[0]) >= OLDEST) return undefined;
  return `varve needs Node ${OLDEST} or newer, and this is Node ${version}: install a newer one from https://nodejs.org`;
}
