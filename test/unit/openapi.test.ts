import qs from 'qs';
import { describe, expect, test } from 'vitest';
import { ACCESS_RESOURCES } from '../../services/access/access-resources.ts';
import { type OpenApiOptions, openApiDocument } from '../../services/openapi/openapi-document.ts';
import type { ApiOperation, OpenApiDocument } from '../../services/openapi/openapi-types.ts';
import { shallowDocument } from '../../services/openapi/shallow-document.ts';
import { describeOperations } from '../../services/operator/http-operations.ts';
import { OPERATOR_NAMES } from '../../services/query/operators.ts';
import { planList } from '../../services/query/plan-query.ts';
import { WEBHOOK_RESOURCES } from '../../services/webhooks/webhook-resources.ts';
import { describeResources } from '../../shared/resource.ts';
import { buildRegistry } from '../../shared/schema/build-registry.ts';
import { loadContentTypes } from '../../shared/schema/load-content-types.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { lintOpenApi } from '../support/openapi-lint.ts';

const OPTIONS: OpenApiOptions = { version: '1.2.3', usersEnvelope: true, uploads: true };
const operations = () => ({
  operations: describeOperations(),
  resources: [
    ...describeResources('Access', ACCESS_RESOURCES),
    ...describeResources('Webhooks', WEBHOOK_RESOURCES),
  ],
});
const FOLDERS = ['test/conformance/schema', 'examples/restaurants'];

function registryOf(folder: string): SchemaRegistry {
  const loaded = loadContentTypes(folder);
  if (loaded.kind === 'problems') throw new Error(JSON.stringify(loaded.problems));
  return loaded.registry;
}

function registryOfThings(): SchemaRegistry {
  const json = {
    kind: 'collectionType',
    info: { singularName: 'thing', pluralName: 'things', displayName: 'Thing' },
    options: { draftAndPublish: true },
    attributes: {
      title: { type: 'string', required: true, minLength: 2, maxLength: 80, regex: '^[A-Z]' },
      slug: { type: 'uid', targetField: 'title' },
      stars: { type: 'integer', min: 1, max: 5, default: 3 },
      visits: { type: 'biginteger', min: '0' },
      size: { type: 'enumeration', enum: ['small', 'large'] },
      opened: { type: 'date', unique: true },
      code: { type: 'password' },
    },
  };
  const { registry, problems } = buildRegistry([
    { model: 'contentType', file: 'thing.json', namespace: 'api::thing', json },
  ]);
  expect(problems).toEqual([]);
  return registry;
}

const conformance = registryOf('test/conformance/schema');

function operationsOf(document: OpenApiDocument): readonly ApiOperation[] {
  return Object.values(document.paths).flatMap((item) => Object.values(item));
}

function schemaOf(document: OpenApiDocument, name: string) {
  const schema = document.components.schemas[name];
  if (schema === undefined) throw new Error(`no schema ${name}`);
  return schema as { properties: Record<string, Record<string, unknown>>; required?: string[] };
}

describe.each(FOLDERS)('the document of %s', (folder) => {
  const registry = registryOf(folder);

  test.each([
    ['everything', { ...OPTIONS, login: 'legacy-support', operations }],
    ["Strapi's users, no uploads", { ...OPTIONS, usersEnvelope: false, uploads: false, login: 'refresh' }],
    ['reading only', { ...OPTIONS, drafts: false, may: (_type, right) => right === 'find' }],
  ] satisfies [string, OpenApiOptions][])('passes the linter: %s', async (_name, options) => {
    expect(await lintOpenApi(openApiDocument(registry, options))).toEqual([]);
  });

  test('describes lists that can be streams, and the tickets of streams', () => {
    for (const live of [true, false]) {
      const { paths } = openApiDocument(registry, { ...OPTIONS, live });
      const list = Object.values(paths).find(
        ({ get }) => get?.tags[0] !== 'Changes' && get?.operationId.startsWith('list'),
      );
      const names = list?.get?.parameters?.map(({ name }) => name) ?? [];
      expect([names.includes('live'), names.includes('ticket'), names.includes('Last-Event-ID')]).toEqual([
        live,
        live,
        live,
      ]);
      const feed = JSON.stringify(paths['/api/_changes']?.get?.responses['200']);
      expect(feed).toContain('"text/event-stream"');
      expect(paths['/_varve/tickets']?.post?.responses).toHaveProperty('201');
    }
  });

  test('has every route of every content type', () => {
    const document = openApiDocument(registry, OPTIONS);
    for (const type of registry.contentTypes.values()) {
      if (type.builtIn) continue;
      const path = `/api/${type.kind === 'singleType' ? type.singularName : type.pluralName}`;
      const single = type.kind === 'singleType';
      expect(Object.keys(document.paths[path] ?? {})).toEqual(
        single ? ['get', 'put', 'delete'] : ['get', 'post'],
      );
      if (!single)
        expect(Object.keys(document.paths[`${path}/{documentId}`] ?? {})).toEqual(['get', 'put', 'delete']);
      const actions = Object.keys(document.paths).filter((key) =>
        key.startsWith(`${path}/{documentId}/actions/`),
      );
      const restores = actions.filter((key) => key.endsWith('/restore'));
      expect(actions.length - restores.length).toBe(type.draftAndPublish && !single ? 3 : 0);
    }
  });

  test('has the history of every content type', () => {
    const document = openApiDocument(registry, OPTIONS);
    for (const type of registry.contentTypes.values()) {
      if (type.builtIn) continue;
      const single = type.kind === 'singleType';
      const entry = single ? `/api/${type.singularName}` : `/api/${type.pluralName}/{documentId}`;
      for (const part of ['versions', 'versions/{version}', 'versions/{version}/diff'])
        expect(Object.keys(document.paths[`${entry}/${part}`] ?? {})).toEqual(['get']);
      expect(Object.keys(document.paths[`${entry}/actions/restore`] ?? {})).toEqual(['post']);
      expect(`/api/${type.pluralName}/_deleted` in document.paths).toBe(!single);
    }
  });

  test('gives query examples that the planner accepts', () => {
    const document = openApiDocument(registry, OPTIONS);
    let taken = 0;
    for (const type of registry.contentTypes.values()) {
      if (type.builtIn || type.kind === 'singleType') continue;
      for (const { name, examples = {} } of document.paths[`/api/${type.pluralName}`]?.get?.parameters ??
        []) {
        for (const { value } of Object.values(examples)) {
          const queryString = qs.stringify({ [name]: value });
          expect(
            () => planList({ registry, type, queryString, defaultLocale: 'en', cursorKey: Buffer.alloc(32) }),
            queryString,
          ).not.toThrow();
          taken += 1;
        }
      }
    }
    expect(taken).toBeGreaterThan(40);
  });
});

describe('the document', () => {
  const document = openApiDocument(conformance, OPTIONS);

  test('says with which headers a read waits for a write, and a write can be sent again', () => {
    const { paths } = openApiDocument(conformance, OPTIONS);
    for (const [path, item] of Object.entries(paths).filter(([each]) => each.startsWith('/api/'))) {
      for (const [method, { parameters = [], responses }] of Object.entries(item)) {
        const waits = parameters.some(
          ({ name, in: where }) => where === 'header' && name === 'Varve-Min-Position',
        );
        expect(waits, `${method} ${path}`).toBe(method === 'get');
        expect(
          parameters.some(({ name }) => name === 'Idempotency-Key'),
          `${method} ${path}`,
        ).toBe(method !== 'get');
        const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'));
        for (const [status, response] of successes) {
          const { headers = {} } = response as { headers?: object };
          const expected = method === 'get' ? 'ETag' : 'Varve-Position';
          expect(Object.keys(headers), `${method} ${path} ${status}`).toEqual([expected]);
        }
      }
    }
  });

  test('is made once per registry and options', () => {
    expect(openApiDocument(conformance, OPTIONS)).toBe(document);
    expect(openApiDocument(conformance, { ...OPTIONS })).not.toBe(document);
  });

  test('describes every operator of the table, and no others', () => {
    const { description } = document.info as { description: string };
    const described = new Set(description.match(/(?<=`)\$\w+(?=`)/g));
    expect([...described].sort()).toEqual([...OPERATOR_NAMES].sort());
    const schemas = ['text', 'number', 'biginteger', 'boolean', 'time', 'date', 'json'].flatMap((kind) => {
      const { anyOf } = document.components.schemas[`filter.${kind}`] as { anyOf: { properties?: object }[] };
      return Object.keys(anyOf.at(-1)?.properties ?? {});
    });
    expect([...new Set([...schemas, '$and', '$or'])].sort()).toEqual([...OPERATOR_NAMES].sort());
  });

  test('describes the body of a write', () => {
    const things = openApiDocument(registryOfThings(), OPTIONS);
    expect(schemaOf(things, 'Thing.Input').properties).toEqual({
      title: {
        type: ['string', 'null'],
        minLength: 2,
        maxLength: 80,
        pattern: '^[A-Z]',
        description: 'Required when published.',
      },
      slug: {
        type: ['string', 'null'],
        maxLength: 255,
        pattern: '^[A-Za-z0-9\\-_.~]*$',
        description: 'Made from title.',
      },
      stars: { type: ['integer', 'null'], format: 'int32', minimum: 1, maximum: 5, default: 3 },
      visits: { type: ['string', 'null'], pattern: '^-?\\d{1,19}$', description: 'At least 0.' },
      size: { type: ['string', 'null'], enum: ['small', 'large', null] },
      opened: { type: ['string', 'null'], format: 'date', description: 'Unique among published entries.' },
      code: {
        type: ['string', 'null'],
        format: 'password',
        maxLength: 255,
        writeOnly: true,
        description: 'Never answered.',
      },
    });
    expect(schemaOf(things, 'Thing.Input').required).toBeUndefined();
    expect(schemaOf(things, 'Thing.Create').required).toEqual(['title']);
    expect(schemaOf(things, 'Thing').properties['title']).toEqual({ type: ['string', 'null'] });
    expect(schemaOf(things, 'Thing').properties).not.toHaveProperty('code');
  });

  test('distinguishes the components of a dynamic zone', () => {
    const zones = Object.values(schemaOf(document, 'Restaurant').properties).filter(
      (schema) => (schema['items'] as Record<string, unknown> | undefined)?.['discriminator'] !== undefined,
    );
    expect(zones.length).toBeGreaterThan(0);
    expect(zones[0]?.['items']).toMatchObject({
      discriminator: {
        propertyName: '__component',
        mapping: { 'blocks.hero': '#/components/schemas/Component.BlocksHero.Zone' },
      },
    });
    expect(schemaOf(document, 'Component.BlocksHero.Zone').properties['__component']).toEqual({
      const: 'blocks.hero',
    });
  });

  test('never shows private attributes and passwords in answers', () => {
    let hidden = 0;
    for (const type of conformance.contentTypes.values()) {
      const name = type.singularName.charAt(0).toUpperCase() + type.singularName.slice(1);
      for (const attribute of type.attributes.values()) {
        if (!attribute.private) continue;
        hidden += 1;
        expect(schemaOf(document, name).properties).not.toHaveProperty(attribute.name);
        expect(schemaOf(document, `${name}.Filters`).properties).not.toHaveProperty(attribute.name);
      }
    }
    expect(hidden).toBeGreaterThan(4);
  });

  test('shows a reader only what it may do', () => {
    const reader = openApiDocument(conformance, {
      ...OPTIONS,
      drafts: false,
      history: false,
      may: (type, right) => type.singularName === 'tag' && right === 'findOne',
    });
    expect(Object.keys(reader.paths)).toEqual(['/api/tags/{documentId}', '/_health']);
    expect(operationsOf(reader).map(({ operationId }) => operationId)).toEqual(['getTag', 'getHealth']);
    expect(JSON.stringify(reader.components.schemas)).not.toContain('"writeOnly"');
    expect(reader.paths['/api/tags/{documentId}']?.get?.parameters?.map(({ name }) => name)).not.toContain(
      'status',
    );
  });

  test('has a shallow form, in which no type refers to another', async () => {
    const { schemas } = shallowDocument(document).components;
    expect(schemas['Restaurant.List']).toEqual(document.components.schemas['Restaurant.List']);
    const leading = Object.entries(schemas).filter(
      ([name, schema]) =>
        !/\.(Answer|List)$/.test(name) &&
        /"#\/components\/schemas\/[A-Z]\w+(\.Filters|\.Populate)?"/.test(JSON.stringify(schema)),
    );
    expect(leading).toEqual([]);
  });

  test('has an example of every body and of every answer that has one', () => {
    for (const operation of operationsOf(document)) {
      const { content } = (operation.requestBody ?? {}) as {
        content?: Record<string, { example?: unknown }>;
      };
      const json = content?.['application/json'];
      if (json !== undefined) expect(json.example, operation.operationId).toBeDefined();
      for (const response of Object.values(operation.responses) as { content?: Record<string, object> }[]) {
        if (response.content !== undefined) {
          expect(response.content['application/json'], operation.operationId).toHaveProperty('example');
        }
      }
    }
  });
});
