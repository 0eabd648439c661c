import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { SchemaNames } from './schema-names.ts';

/** The parts of OpenAPI 3.1 that the document uses (https://spec.openapis.org/oas/v3.1.1). Schemas are JSON Schema 2020-12. */

export type JsonSchema = { readonly [keyword: string]: unknown };

export type Example = { readonly summary: string; readonly value: unknown };

export type Parameter = {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly description: string;
  readonly required?: boolean;
  readonly style?: 'deepObject' | 'form' | 'simple';
  readonly explode?: boolean;
  readonly schema: JsonSchema;
  readonly examples?: Readonly<Record<string, Example>>;
};

export type Reference = { readonly $ref: string };

export type ApiOperation = {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: object;
  readonly responses: Readonly<Record<string, object>>;
  readonly security?: readonly object[];
};

/** Operation of a route of a type: the type is its tag. */
export type RouteOperation = Omit<ApiOperation, 'tags'>;

export type Method = 'get' | 'post' | 'put' | 'delete';
export type PathItem = { readonly [method in Method]?: ApiOperation };
export type Paths = Readonly<Record<string, PathItem>>;

export type OpenApiDocument = {
  readonly openapi: '3.1.1';
  readonly info: object;
  readonly servers: readonly object[];
  readonly security: readonly object[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Paths;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly responses: Readonly<Record<string, object>>;
    readonly securitySchemes: object;
  };
};

/** Source of the parts of a document. */
export type OpenApiScope = { readonly registry: SchemaRegistry; readonly names: SchemaNames };
