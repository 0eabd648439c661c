import { remembered } from '../../shared/remembered.ts';
import { type ContentType, FILE_TYPE, USER_TYPE } from '../../shared/schema/content-type.ts';
import { contentTypeOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { withAsOf } from './as-of-parameter.ts';
import { CHANGES_TAG, changesPath } from './changes-path.ts';
import { documentSchemas } from './document-schemas.ts';
import { entryPaths, type HasRight, type PathScope } from './entry-paths.ts';
import { historyPaths } from './history-paths.ts';
import { type DescribedLogin, loginPaths } from './login-paths.ts';
import type { OpenApiDocument, Paths } from './openapi-types.ts';
import { withEntityTags, withIdempotencyKey, withPositionHeaders } from './operation-headers.ts';
import { type DescribedOperations, OPERATION_TAG, operationPaths } from './operation-paths.ts';
import { operatorGuide } from './operator-guide.ts';
import { HEADERS_TOO_LARGE, REFUSAL_RESPONSES } from './responses.ts';
import { schemaNames } from './schema-names.ts';
import { STREAMS_TAG } from './streams.ts';
import { uploadPaths } from './upload-paths.ts';
import { usedComponents } from './used-components.ts';
import { userPaths } from './user-paths.ts';

export type OpenApiOptions = {
  /** Version of the server. */
  readonly version: string;
  /** False if `/api/users` answers without an envelope, like Strapi. */
  readonly usersEnvelope: boolean;
  /** Mode of the login; absent if nobody signs in here. */
  readonly login?: DescribedLogin | undefined;
  /** Returns the operations of operators; absent if the reader may not run them. */
  readonly operations?: DescribedOperations | undefined;
  /** True if files can be uploaded. */
  readonly uploads: boolean;
  /** Rights of the reader of the document; everything by default. Routes without a right are omitted. */
  readonly may?: HasRight;
  /** True if that reader may see drafts; default true. */
  readonly drafts?: boolean;
  /** True if that reader may see earlier versions; default true. */
  readonly history?: boolean;
  /** True if lists are served as streams too; default true. */
  readonly live?: boolean;
};

const documentOf = remembered((registry: SchemaRegistry) =>
  remembered((options: OpenApiOptions) => createDocument(registry, options)),
);

/** Describes the HTTP API of these content types as an OpenAPI 3.1 document. Made once per registry and options. */
export function openApiDocument(registry: SchemaRegistry, options: OpenApiOptions): OpenApiDocument {
  return documentOf(registry)(options);
}

function createDocument(registry: SchemaRegistry, options: OpenApiOptions): OpenApiDocument {
  const { may = () => true, drafts = true, live = true } = options;
  const scope: PathScope = { registry, names: schemaNames(registry), may, drafts, live };
  const types = [...registry.contentTypes.values()].filter((type) => !type.builtIn);
  const users = contentTypeOf(registry, USER_TYPE);
  const files = contentTypeOf(registry, FILE_TYPE);
  const paths = pathsOfDocument(scope, { types, users, files }, options);
  return {
    openapi: '3.1.1',
    info: {
      title: 'Varve content API',
      version: options.version,
      summary: "Strapi 5's REST Content API",
      description: description(drafts),
    },
    servers: [{ url: '/', description: 'This server' }],
    security: [{ bearer: [] }, {}],
    tags: tagsOf(paths, [...types, users, files]),
    paths,
    components: {
      ...usedComponents(paths, { schemas: documentSchemas(scope), responses: REFUSAL_RESPONSES }),
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description:
            'An access token. Until the first one is created, the server is in development mode and accepts every request.',
        },
      },
    },
  };
}

type DescribedTypes = {
  readonly types: readonly ContentType[];
  readonly users: ContentType;
  readonly files: ContentType;
};

function pathsOfDocument(
  scope: PathScope,
  { types, users, files }: DescribedTypes,
  options: OpenApiOptions,
): Paths {
  const content: Paths = {
    ...Object.assign({}, ...types.map((type) => entryPaths(scope, type))),
    ...(options.uploads ? uploadPaths(scope, files) : {}),
  };
  return {
    ...withIdempotencyKey(
      withEntityTags(
        withPositionHeaders({
          ...(options.history === false
            ? content
            : Object.assign(withAsOf(content), ...types.map((type) => historyPaths(scope, type)))),
          ...userPaths(scope, users, options.usersEnvelope),
        }),
      ),
    ),
    ...withEntityTags(withPositionHeaders(changesPath(scope, types, files))),
    ...(options.login === undefined ? {} : withPositionHeaders(loginPaths(scope, users, options.login))),
    ...(options.operations === undefined ? {} : operationPaths(options.operations())),
    '/_health': HEALTH,
  };
}

const SERVER_TAG = 'Server';

const HEALTH: Paths[string] = {
  get: {
    operationId: 'getHealth',
    tags: [SERVER_TAG],
    summary: 'Whether the server serves',
    security: [{}],
    responses: {
      204: { description: 'It serves.' },
      431: HEADERS_TOO_LARGE,
      503: { $ref: '#/components/responses/Unavailable' },
    },
  },
};

/** Returns a tag for each type that has an operation. Types that share a display name share a tag. */
function tagsOf(paths: Paths, types: readonly ContentType[]): OpenApiDocument['tags'] {
  const used = new Set(
    Object.values(paths).flatMap((item) => Object.values(item).flatMap(({ tags }) => tags)),
  );
  const descriptions = new Map<string, string>();
  for (const { displayName, uid, draftAndPublish, localized } of types) {
    const traits = [draftAndPublish ? 'draft and publish' : '', localized ? 'localized' : ''].filter(Boolean);
    descriptions.set(displayName, `\`${uid}\`${traits.length === 0 ? '' : ` (${traits.join(', ')})`}`);
  }
  descriptions.set('Login', 'Users who sign in.');
  descriptions.set('Webhooks', 'Requests to other servers when content changes.');
  descriptions.set('Access', 'Tokens, rights, roles and the login.');
  descriptions.set(OPERATION_TAG, 'What `varve` does on the command line.');
  descriptions.set(CHANGES_TAG, 'Changes of documents.');
  descriptions.set(STREAMS_TAG, 'Server-sent events.');
  descriptions.set(SERVER_TAG, 'The server itself.');
  return [...descriptions].flatMap(([name, text]) => (used.has(name) ? [{ name, description: text }] : []));
}

function description(drafts: boolean): string {
  return [
    'Answers are `{"data": …, "meta": …}`, refusals `{"data": null, "error": {…}}`. A name that does not exist, or that the',
    'caller may not use, is refused with 400. Only unknown root parameters are ignored, if the server is not strict.',
    '',
    drafts
      ? 'A request is answered from one world: published entries, or with `status=draft` drafts. Relations lead to entries of the same world.\n'
      : '',
    'Parameters in `deepObject` style nest to any depth: `filters[chef][name][$eq]=Ada`, `populate[chef][fields][0]=name`.',
    '',
    operatorGuide(),
  ].join('\n');
}
