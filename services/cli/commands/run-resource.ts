import type { FormProblem } from '../../../shared/form-problems.ts';
import { RequestError } from '../../../shared/request-error.ts';
import type { Resource, ResourceRequest } from '../../../shared/resource.ts';
import { InvalidSettings } from '../settings/settings.ts';

/** Request of a command to a resource. `id`: the parameter of its path. */
export type ResourceCommand = {
  readonly id?: string;
  readonly data?: object;
  readonly query?: Readonly<Record<string, string>>;
};

/** Returns a resource of a table. */
export function resourceOf<Parts>(table: readonly Resource<Parts>[], name: string): Resource<Parts> {
  const resource = table.find((each) => each.name === name);
  if (resource === undefined) throw new Error(`no resource is called ${name}`);
  return resource;
}

/** Runs a resource as `/_varve/*` does, and returns the `data` of its answer. Throws InvalidSettings for a refused form. */
export async function runResource<Parts>(
  resource: Resource<Parts>,
  parts: Parts,
  { id = '', data, query }: ResourceCommand,
): Promise<unknown> {
  const request: ResourceRequest = {
    parameter: () => id,
    query: new URLSearchParams(query),
    data,
    hasBody: data !== undefined,
  };
  try {
    return (await resource.run(parts, request)).data;
  } catch (error) {
    const errors = error instanceof RequestError ? error.details['errors'] : undefined;
    throw errors === undefined ? error : refusedOptions(errors as readonly FormProblem[]);
  }
}

/** Members of forms whose options have other names. */
const OPTION_OF: Readonly<Record<string, string>> = {
  url: '<url>',
  headers: '--header',
  scheduledAt: '--at',
  contentType: '--type',
  entryDocumentId: '--entries',
};

/** Returns the error for a form that is made of options. It names them. */
export function refusedOptions(problems: readonly FormProblem[]): InvalidSettings {
  return new InvalidSettings(
    ...problems.map(({ path, message }) => `${OPTION_OF[path] ?? `--${path}`} ${message}`),
  );
}
