import qs from 'qs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiOperation, OpenApiDocument } from '../../services/openapi/openapi-types.ts';
import { AS_RECORDED } from '../conformance/run-corpus.ts';
import { createAnswerValidators } from '../support/answer-schemas.ts';
import { startOnCorpus } from '../support/loaded-corpus.ts';
import { lintOpenApi } from '../support/openapi-lint.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

describe('the conformance schema', () => describeAnswers(startOnCorpus));
describe('other servers', takesMinutes('the OpenAPI documents of other servers'), () => {
  describe("the conformance schema, with Strapi's users", () =>
    describeAnswers(() => startOnCorpus({ env: AS_RECORDED })));
  describe('examples/restaurants', () =>
    describeAnswers(() => startServer({ contentTypes: 'examples/restaurants', arguments: ['--examples'] })));
});

/** Compares a server's OpenAPI document with its own answers. */
function describeAnswers(start: () => Promise<RunningServer>): void {
  let server: RunningServer;
  let document: OpenApiDocument;
  let validatorOf: ReturnType<typeof createAnswerValidators>;

  beforeAll(async () => {
    server = await start();
    document = (await (await fetch(`${server.url}/openapi.json`)).json()) as OpenApiDocument;
    validatorOf = createAnswerValidators(document);
  }, 300_000);

  afterAll(() => server?.dispose());

  /** Sends a request and checks its answer against the response documented for its status. */
  async function check(path: string, operation: ApiOperation, init: RequestInit = {}): Promise<unknown> {
    const answer = await fetch(server.url + path, init);
    const text = await answer.text();
    const documented = operation.responses[answer.status] as
      | { $ref?: string; content?: { 'application/json': { schema: object } } }
      | undefined;
    expect(documented, `${operation.operationId} ${answer.status}: ${text.slice(0, 500)}`).toBeDefined();
    const { content } = documented?.$ref === undefined ? (documented ?? {}) : responseOf(documented.$ref);
    if (content === undefined) {
      expect(text).toBe('');
      return undefined;
    }
    const body: unknown = JSON.parse(text);
    const validate = validatorOf(content['application/json'].schema);
    validate(body);
    expect(validate.errors?.slice(0, 3) ?? [], `${operation.operationId} ${path}`).toEqual([]);
    return body;
  }

  function responseOf(reference: string) {
    return document.components.responses[reference.split('/').at(-1) ?? ''] as {
      content?: { 'application/json': { schema: object } };
    };
  }

  function operations(method: 'get' | 'post'): [string, ApiOperation][] {
    return Object.entries(document.paths).flatMap(([path, item]) => {
      const operation = item[method];
      return operation === undefined ? [] : [[path, operation] as [string, ApiOperation]];
    });
  }

  test('the document passes the linter', async () => {
    expect(await lintOpenApi(document)).toEqual([]);
  });

  test('every list, complete, populated and in both worlds, is as documented', async () => {
    let entries = 0;
    for (const [path, operation] of operations('get').filter(([each]) => !each.includes('{'))) {
      for (const query of [
        '',
        'populate=*',
        'status=draft&populate=*',
        'fields=id',
        'pagination[withCount]=false',
        'filters[nope]=1',
      ]) {
        if (path === '/_health' && query !== '') continue;
        const body = (await check(`${path}?${query}`, operation)) as { data?: unknown[] } | undefined;
        if (Array.isArray(body?.data)) entries += body.data.length;
      }
    }
    expect(entries).toBeGreaterThan(200);
  });

  test('every example of a parameter is answered', async () => {
    let tried = 0;
    for (const [path, operation] of operations('get')) {
      for (const { name, examples = {} } of path.includes('{') ? [] : (operation.parameters ?? [])) {
        for (const { value } of Object.values(examples)) {
          const answer = await fetch(`${server.url}${path}?${qs.stringify({ [name]: value })}`);
          expect(answer.status, `${path} ${name} ${JSON.stringify(value)}`).toBe(200);
          tried += 1;
        }
      }
    }
    expect(tried).toBeGreaterThan(40);
  });

  test('existing and missing entries are answered as documented', async () => {
    let read = 0;
    for (const [path, operation] of operations('get').filter(([each]) => each.endsWith('/{documentId}'))) {
      const list = (await (
        await fetch(server.url + path.replace('/{documentId}', '?populate=*'))
      ).json()) as { data: { documentId: string }[] };
      for (const { documentId } of list.data.slice(0, 3)) {
        await check(path.replace('{documentId}', documentId), operation);
        read += 1;
      }
      await check(path.replace('{documentId}', 'nobody'), operation);
    }
    expect(read).toBeGreaterThan(15);
  });

  test('every example of a body is accepted, and answered as documented', async () => {
    let created = 0;
    for (const [path, operation] of operations('post')) {
      const { content } = (operation.requestBody ?? {}) as {
        content?: Record<string, { example?: unknown }>;
      };
      const example = content?.['application/json']?.example;
      if (example === undefined || path.includes('{')) continue;
      const init = { method: 'POST', headers: { 'content-type': 'application/json' } };
      const body = JSON.stringify(example);
      const answer = await fetch(server.url + path, { ...init, body });
      expect(answer.status, `${operation.operationId}: ${await answer.text()}`).toBe(201);
      created += 1;
      // The same body once more: unique values are refused as documented, and all others create another document.
      await check(path, operation, { ...init, body });
      await check(path, operation, { ...init, body: '{' });
      await check(path, operation, { ...init, body: '<a/>', headers: { 'content-type': 'application/xml' } });
    }
    expect(created).toBeGreaterThan(8);
  });
}
