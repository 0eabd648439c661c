import * as z from 'zod';

/** Operation on something that has a path of its own below `/_varve`, such as a token. The answer is one JSON document. */
export type Resource<Parts> = {
  readonly name: string;
  readonly summary: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path, with its parameters as `:name`. */
  readonly path: string;
  /** Form of `data` in the body, as the description of the API shows it; absent: there is no body. `run` checks it. */
  readonly body?: z.ZodType;
  /** Status of the answer. Default: 200. */
  readonly status?: 200 | 201 | 204;
  /** Throws RequestError. */
  run(parts: Parts, request: ResourceRequest): ResourceAnswer | Promise<ResourceAnswer>;
};

export type ResourceRequest = {
  /** Returns a parameter of the path. */
  readonly parameter: (name: string) => string;
  /** Member `data` of the body. */
  readonly data: unknown;
};

/** Answer of a resource: `data`, `meta`, and the position of the change in the log. */
export type ResourceAnswer = {
  readonly data?: unknown;
  readonly meta?: object;
  readonly position?: bigint | undefined;
};

/** A resource as programs see it: its body is a JSON Schema. */
export type DescribedResource = Omit<Resource<never>, 'run' | 'body'> & { readonly body?: object };

/** Describes resources for the description of the API. */
export function describeResources<Parts>(
  resources: readonly Resource<Parts>[],
): readonly DescribedResource[] {
  return resources.map(({ run: _, body, ...resource }) => {
    if (body === undefined) return resource;
    const { $schema, ...schema } = z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' });
    return { ...resource, body: schema };
  });
}
