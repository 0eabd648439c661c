import { readFileSync } from 'node:fs';
import { InvalidSettings } from './settings.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the values of variables that are given as files, as Docker and Kubernetes provide secrets:
 * `VARVE_ACCESS_KEY_FILE=/run/secrets/key` sets VARVE_ACCESS_KEY. One line end at the end of a file is not part of the
 * value. Throws InvalidSettings.
 */
export function readSecretFiles(
  environment: Environment,
  variables: ReadonlySet<string>,
): Readonly<Record<string, string>> {
  const problems: string[] = [];
  const values: Record<string, string> = {};
  for (const [name, file] of Object.entries(environment)) {
    const variable = name.replace(/_FILE$/, '');
    if (file === undefined || variable === name || !variables.has(variable)) continue;
    if (environment[variable] !== undefined) {
      problems.push(`${name} and ${variable} are both set: set only one of them`);
      continue;
    }
    try {
      values[variable] = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
    } catch (error) {
      problems.push(`${name} "${file}" cannot be read: ${(error as Error).message}`);
    }
  }
  if (problems.length > 0) throw new InvalidSettings(...problems);
  return values;
}
