import * as z from 'zod';
import { defined } from './defined.ts';

/** Operation on something that has a path of its own below `/_varve`, such as a token. The answer is one JSON document. */
export type Resource<Parts> = {
  readonly name: string;
  readonly summary: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path, with its parameters as `:name`. */
  readonly path: string;
  /** Form of `data` in the body, for the description of the API; absent: there is no body. `run` checks it. */
  readonly body?: z.ZodType;
  /** Parameters of the query string, for the description. `run` checks them. */
  readonly query?: z.ZodObject;
  /** Form of `data` in the answer, for the description. */
  readonly result?: z.ZodType;
  /** Status of the answer. Default: 200. */
  readonly status?: 200 | 201 | 204;
  /** True: only the leader carries it out. Other processes forward it. */
  readonly ofLeader?: true;
  /** Throws RequestError. */
  run(parts: Parts, request: ResourceRequest): ResourceResult | Promise<ResourceResult>;
  /** Present if callers may ask for a stream of server-sent events instead: yields the data of each `line`. Throws like `run`. */
  subscribe?(parts: Parts, request: ResourceRequest, signal: AbortSignal): AsyncIterable<unknown>;
};

export type ResourceRequest = {
  /** Returns a parameter of the path. */
  readonly parameter: (name: string) => string;
  readonly query: URLSearchParams;
  /** Member `data` of the body; undefined if the body has none. */
  readonly data: unknown;
  readonly hasBody: boolean;
};

/** Answer of a resource: `data`, `meta`, and the position of the change in the log. */
export type ResourceResult = {
  readonly data?: unknown;
  readonly meta?: object;
  readonly position?: bigint | undefined;
};

/** Request to a resource as JSON. `parameters`: those of its path. */
export type ResourceCall = {
  readonly resource: string;
  readonly parameters?: Readonly<Record<string, string>> | undefined;
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly data?: unknown;
};

/** Runs the resource of a table that a request names, as its path does. Throws RequestError, and an Error for an unknown name. */
export async function callResource<Parts>(
  table: readonly Resource<Parts>[],
  parts: Parts,
  { resource: name, parameters = {}, query, data }: ResourceCall,
): Promise<ResourceResult> {
  const resource = table.find((each) => each.name === name);
  if (resource === undefined) throw new Error(`no resource is called ${name}`);
  return resource.run(parts, {
    parameter: (parameter) => parameters[parameter] ?? '',
    query: new URLSearchParams(query),
    data,
    hasBody: data !== undefined,
  });
}

/** A resource as programs see it: its forms are JSON Schemas. */
export type DescribedResource = Omit<Resource<never>, 'run' | 'subscribe' | 'body' | 'query' | 'result'> & {
  readonly tag: string;
  readonly body?: object;
  readonly query?: object;
  readonly result?: object;
};

/** Describes resources for the description of the API, below a heading. */
export function describeResources<Parts>(
  tag: string,
  resources: readonly Resource<Parts>[],
): readonly DescribedResource[] {
  return resources.map(({ run: _, subscribe: __, body, query, result, ...resource }) => ({
    ...resource,
    tag,
    ...defined({ body: body && schemaOf(body), query: query && schemaOf(query) }),
    ...defined({ result: result && schemaOf(result) }),
  }));
}

function schemaOf(form: z.ZodType): object {
  const { $schema: _, ...schema } = z.toJSONSchema(form, { io: 'input', unrepresentable: 'any' });
  return schema;
}
