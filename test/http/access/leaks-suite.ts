import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, type Ask, createAsk, createCallers } from '../../support/access-client.ts';
import type { RunningServer } from '../../support/server.ts';

/**
 * A request that names something hidden from its caller gets the same answer as one that names nothing. Status, message, totals and
 * order are equal. The caller may find restaurants, tags, articles and users, and write restaurants, but not see drafts.
 */
const ALLOW = [
  'restaurant.find',
  'restaurant.findOne',
  'restaurant.create',
  'restaurant.update',
  'tag.find',
  'article.find',
  'user.find',
];

/** Runs the suite on a server with the corpus. */
export function describeLeaks(start: () => Promise<RunningServer>): void {
  let server: RunningServer;
  let ask: Ask;
  let askAll: Ask;
  let restaurant: string;

  beforeAll(async () => {
    server = await start();
    const [first] = (await createAsk(server.url)('/api/restaurants?filters[key]=r01')).body.data;
    restaurant = first.documentId;
    ({ ask, askAll } = await createCallers(server.url, ALLOW));
  }, 300_000);

  afterAll(() => server?.dispose());

  /** Places in which a request can name an attribute of restaurants. */
  const SURFACES: Readonly<Record<string, (name: string) => string>> = {
    filters: (name) => `filters[${name}]=1`,
    'filters, operator': (name) => `filters[${name}][$notNull]=true`,
    'filters, behind it': (name) => `filters[${name}][name][$startsWith]=a`,
    'filters in $and': (name) => `filters[$and][0][${name}][$null]=true`,
    'filters in $or': (name) => `filters[$or][0][name]=x&filters[$or][1][${name}]=1`,
    'filters in $not': (name) => `filters[$not][${name}]=1`,
    'filters at depth': (name) => `filters[tags][restaurants][${name}]=1`,
    'filters at depth, in a group': (name) => `filters[tags][$and][0][restaurants][${name}]=1`,
    sort: (name) => `sort=${name}`,
    'sort, direction': (name) => `sort=${name}:desc`,
    'sort, list': (name) => `sort[0]=name&sort[1]=${name}`,
    'sort, object': (name) => `sort[${name}]=asc`,
    'sort behind it': (name) => `sort=${name}.name`,
    'sort at depth': (name) => `sort=tags.restaurants.${name}:asc`,
    facets: (name) => `facets=${name}`,
    'facets, list': (name) => `facets[0]=name&facets[1]=${name}`,
    'facets, behind it': (name) => `facets=${name}.name`,
    'facets at depth': (name) => `facets=tags.restaurants.${name}`,
    'facets, options': (name) => `facets[${name}][limit]=5`,
    highlight: (name) => `search=a&highlight=${name}`,
    'highlight, options': (name) => `search=a&highlight[${name}][snippet]=5`,
    fields: (name) => `fields=${name}`,
    'fields, list': (name) => `fields[0]=name&fields[1]=${name}`,
    populate: (name) => `populate=${name}`,
    'populate, list': (name) => `populate[0]=tags&populate[1]=${name}`,
    'populate, dotted': (name) => `populate=tags.restaurants.${name}`,
    'populate, object': (name) => `populate[${name}]=true`,
    'populate, options': (name) => `populate[${name}][fields][0]=name`,
    'populate, count': (name) => `populate[${name}][count]=true`,
    'populate in populate': (name) => `populate[tags][populate][restaurants][populate]=${name}`,
    'filters in populate': (name) => `populate[tags][populate][restaurants][filters][${name}]=1`,
    'sort in populate': (name) => `populate[branches][sort]=${name}`,
    'fields in populate': (name) => `populate[branches][fields]=${name}`,
  };

  /** Attributes of restaurants that the caller may not name. */
  const HIDDEN: Readonly<Record<string, readonly string[]>> = {
    'a private attribute': ['internalNote'],
    'a password': ['secretPin'],
    'a system attribute': ['createdBy', 'updatedBy', 'localizations', 'locale'],
    'a relation to a type without the right': ['chef', 'category', 'menu', 'reviews', 'homeCountry'],
    'media without the right': ['logo', 'gallery'],
  };
  const UNKNOWN = 'nope';

  const CASES = Object.entries(SURFACES).flatMap(([surface, query]) =>
    Object.entries(HIDDEN).flatMap(([kind, names]) => names.map((name) => ({ surface, kind, name, query }))),
  );

  /** Returns the refusal without the attribute's name and its path. Strapi names the full path of attributes that it knows. */
  function shapeOf({ status, body }: Answer, name: string): unknown {
    const { error } = body as { error: { name: string; message: string } };
    const message = error.message.replace(`.${name}`, '').replaceAll(name, '?').replace(' at ?', '');
    return { status, name: error.name, message };
  }

  describe('what a caller may not reach', () => {
    test.each(CASES)('$surface: $name ($kind)', async ({ name, query }) => {
      const hidden = await ask(`/api/restaurants?${query(name)}`);
      const unknown = await ask(`/api/restaurants?${query(UNKNOWN)}`);
      expect(unknown.status).toBe(400);
      expect(shapeOf(hidden, name)).toEqual(shapeOf(unknown, UNKNOWN));
      expect(hidden.body.error.details.accepted ?? []).not.toContain(name);
    });

    test.each(CASES.filter(({ kind }) => kind.endsWith('without the right')))(
      '$surface: $name is answered like a name that does not exist',
      async ({ name, query }) => {
        const [hidden, unknown] = await Promise.all(
          [name, UNKNOWN].map(async (each) => {
            const { status, body } = await ask(`/api/restaurants?${query(each)}`);
            return { status, text: JSON.stringify(body).replaceAll(each, '?') };
          }),
        );
        expect(hidden).toEqual(unknown);
      },
    );

    test('is answered for callers with the right', async () => {
      const answered: string[] = [];
      for (const [surface, query] of Object.entries(SURFACES)) {
        if ((await askAll(`/api/restaurants?${query('chef')}`)).status === 200) answered.push(surface);
      }
      // The other surfaces are not valid for relations, such as `fields=chef`.
      expect(answered.length).toBeGreaterThan(15);
      expect((await askAll('/api/restaurants?status=draft&filters[key]=r07')).body.data).toHaveLength(1);
      const { status } = await askAll(`/api/restaurants/${restaurant}`, {
        method: 'PUT',
        body: { data: { chef: null } },
      });
      expect(status).toBe(200);
    });

    test.each(Object.entries(SURFACES))(
      '%s: one entry refuses what the list refuses',
      async (_surface, query) => {
        for (const name of ['chef', 'internalNote', 'secretPin']) {
          const hidden = await ask(`/api/restaurants/${restaurant}?${query(name)}`);
          const unknown = await ask(`/api/restaurants/${restaurant}?${query(UNKNOWN)}`);
          // One entry has no order, but its `sort` is checked too.
          expect(shapeOf(hidden, name)).toEqual(shapeOf(unknown, UNKNOWN));
        }
      },
    );

    test.each([
      ['a component', 'filters[address][?][name]=x', 'country'],
      ['a component, sorted', 'sort=address.?.name', 'country'],
      ['a component, populated', 'populate[address][populate]=?', 'country'],
      ['a component, dotted', 'populate=address.?', 'country'],
      ['a dynamic zone', 'filters[sections][on][blocks.teaser][?][name]=x', 'dishes'],
      ['a dynamic zone, populated', 'populate[sections][on][blocks.teaser][populate]=?', 'dishes'],
      [
        'a dynamic zone, filtered in populate',
        'populate[sections][on][blocks.teaser][filters][?][name]=x',
        'dishes',
      ],
    ])('inside %s', async (_place, query, name) => {
      const texts = await Promise.all(
        [name, UNKNOWN].map(async (each) => {
          const { status, body } = await ask(`/api/restaurants?${query.replace('?', each)}`);
          expect(status).toBe(400);
          return JSON.stringify(body).replaceAll(each, '?');
        }),
      );
      expect(texts[0]).toBe(texts[1]);
    });

    test('populate=* omits content that the caller may not find', async () => {
      const { status, body } = await ask('/api/restaurants?populate=*&pagination[pageSize]=5');
      expect(status).toBe(200);
      expect(body.data).toHaveLength(5);
      for (const entry of body.data) {
        for (const name of Object.values(HIDDEN)
          .flat()
          .filter((each) => each !== 'locale'))
          expect(entry).not.toHaveProperty(name);
        expect(entry).toHaveProperty('tags');
      }
    });
  });

  describe('drafts', () => {
    const DRAFT_SURFACES: Readonly<Record<string, (name: string) => string>> = {
      status: () => 'status=draft',
      publicationFilter: () => 'publicationFilter=modified',
      hasPublishedVersion: () => 'hasPublishedVersion=true',
    };

    test.each(Object.keys(DRAFT_SURFACES))('%s is a parameter that does not exist', async (parameter) => {
      for (const path of ['/api/restaurants', `/api/restaurants/${restaurant}`, '/api/tags']) {
        const hidden = await ask(`${path}?${DRAFT_SURFACES[parameter]?.(parameter)}`);
        const unknown = await ask(`${path}?${UNKNOWN}=draft`);
        expect(shapeOf(hidden, parameter)).toEqual(shapeOf(unknown, UNKNOWN));
      }
    });

    test('cannot be sorted by, at the root or inside populate', async () => {
      for (const sort of [
        'sort=?:desc',
        'populate[branches][sort]=?:asc',
        'populate[tags][populate][restaurants][sort]=?:asc',
      ]) {
        const hidden = await ask(`/api/restaurants?${sort.replace('?', 'status')}`);
        const unknown = await ask(`/api/restaurants?${sort.replace('?', UNKNOWN)}`);
        expect(shapeOf(hidden, 'status')).toEqual(shapeOf(unknown, UNKNOWN));
      }
    });

    test('cannot be written, since the answer would show them', async () => {
      const hidden = await ask(`/api/restaurants/${restaurant}?status=draft`, {
        method: 'PUT',
        body: { data: {} },
      });
      expect(shapeOf(hidden, 'status')).toMatchObject({ status: 400, message: 'Invalid key ?' });
    });

    test('are found by no text, filter or total', async () => {
      const { body } = await ask('/api/restaurants?pagination[pageSize]=100');
      for (const condition of ['_q=Fresh fish', 'filters[key]=r07', 'filters[tags][restaurants][key]=r07']) {
        const answer = await ask(`/api/restaurants?${condition}&filters[$and][0][key]=r07`);
        expect(answer.body.meta.pagination.total, condition).toBe(0);
      }
      expect(body.data.map(({ key }: { key: string }) => key)).not.toContain('r07');
    });
  });

  describe('writing', () => {
    const write = (method: string, path: string, data: unknown) => ask(path, { method, body: { data } });
    const VALUES: readonly [string, unknown][] = [
      ['a documentId', 'aaaaaaaaaaaaaaaaaaaaaaaa'],
      ['a row id', 1],
      ['a list', [1, 2]],
      ['connect', { connect: [1] }],
      ['null', null],
    ];

    test.each(VALUES)(
      'a relation to a type without the right is an unknown key: %s',
      async (_form, value) => {
        for (const [method, path] of [
          ['POST', '/api/restaurants'],
          ['PUT', `/api/restaurants/${restaurant}`],
        ] as const) {
          const hidden = await write(method, path, { chef: value });
          const unknown = await write(method, path, { [UNKNOWN]: value });
          expect(unknown.status).toBe(400);
          expect(JSON.stringify(hidden.body).replaceAll('chef', '?')).toBe(
            JSON.stringify(unknown.body).replaceAll(UNKNOWN, '?'),
          );
        }
      },
    );

    test('also inside components and dynamic zones', async () => {
      for (const inside of [
        (name: string) => ({ address: { [name]: 1 } }),
        (name: string) => ({ sections: [{ __component: 'blocks.teaser', [name]: [1] }] }),
      ]) {
        const name = 'address' in inside('x') ? 'country' : 'dishes';
        const hidden = await write('PUT', `/api/restaurants/${restaurant}`, inside(name));
        const unknown = await write('PUT', `/api/restaurants/${restaurant}`, inside(UNKNOWN));
        expect(hidden.status).toBe(400);
        expect(JSON.stringify(hidden.body).replaceAll(name, '?')).toBe(
          JSON.stringify(unknown.body).replaceAll(UNKNOWN, '?'),
        );
      }
    });

    test('is answered within the rights to read', async () => {
      const { status, body } = await write('PUT', `/api/restaurants/${restaurant}?populate=chef`, {});
      expect({ status, message: body.error.message }).toEqual({ status: 400, message: 'Invalid key chef' });
    });
  });

  describe('users', () => {
    test.each(['role', 'password', 'resetPasswordToken', 'confirmationToken', 'createdBy'])(
      '%s',
      async (name) => {
        for (const query of [
          `filters[${name}]=1`,
          `filters[${name}][name]=a`,
          `sort=${name}`,
          `fields=${name}`,
          // Every user has a role. Strapi omits it, and so does Varve.
          ...(name === 'role' ? [] : [`populate=${name}`]),
          `filters[$or][0][${name}][$startsWith]=$`,
        ]) {
          const hidden = await ask(`/api/users?${query}`);
          const unknown = await ask(`/api/users?${query.replace(name, UNKNOWN)}`);
          expect(unknown.status, query).toBe(400);
          expect(shapeOf(hidden, name), query).toEqual(shapeOf(unknown, UNKNOWN));
        }
      },
    );
  });

  /**
   * Strapi's public advisories and reports of one vulnerability: a caller can find out a hidden value letter by letter with filters.
   * Numbers and descriptions are from GitHub's advisories of the package.
   */
  describe("Strapi's filter leaks", () => {
    const total = async (query: string) =>
      (await ask(`/api/restaurants?${query}`)).body.meta?.pagination.total;
    const AUTHOR_FIELDS = ['password', 'resetPasswordToken', 'email'];

    test.each(['createdBy', 'updatedBy'])(
      'CVE-2023-22894, GHSA-jjqf-j4w7-92w8: passwords and tokens behind %s',
      async (author) => {
        for (const field of AUTHOR_FIELDS) {
          for (const caller of [ask, askAll]) {
            const { status, body } = await caller(
              `/api/restaurants?filters[${author}][${field}][$startsWith]=a`,
            );
            expect({ status, message: body.error.message }).toEqual({
              status: 400,
              message: `Invalid key ${author}`,
            });
          }
        }
      },
    );

    test('CVE-2023-34235, GHSA-9xg4-3qfm-9w8f: a private attribute behind a table alias', async () => {
      const keys = ['t0.secretPin', 't1.secretPin', 'restaurants.internalNote', 't0.internal_note'];
      const queries = keys.flatMap((key) => [
        `filters[${key}][$startsWith]=a`,
        `filters[$and][0][${key}]=a`,
        `filters[branches][${key}][$startsWith]=a`,
        `sort=${key}`,
        `fields=${key}`,
      ]);
      for (const query of [...queries, 'filters[updatedBy][t1.password][$startsWith]=$']) {
        for (const caller of [ask, askAll]) {
          expect((await caller(`/api/restaurants?${query}`)).status, query).toBe(400);
        }
      }
    });

    test.each([
      ['CVE-2024-56143, GHSA-495j-h493-42q2', 'lookup'],
      ['CVE-2026-27886, GHSA-rjg2-95x7-8qmx', 'where'],
      ...['_where', 'having', 'select', 'orderBy', 'joins', 'filter', 'params', '_sort'].map((name) => [
        'as those',
        name,
      ]),
    ])('%s: conditions in %s, a parameter of an inner layer', async (_advisory, parameter) => {
      for (const condition of ['[internalNote]', ...AUTHOR_FIELDS.map((field) => `[updatedBy][${field}]`)]) {
        for (const caller of [ask, askAll]) {
          const query = `${parameter}${condition}[$startsWith]=n`;
          const { status, body } = await caller(`/api/restaurants?${query}`);
          expect({ query, status, message: body.error.message }).toEqual({
            query,
            status: 400,
            message: `Invalid key ${parameter}`,
          });
        }
      }
    });

    test('CVE-2023-36472, GHSA-v8gg-4mq2-88q4: a private attribute selected through a relation', async () => {
      for (const query of ['populate[chef][fields][0]=salary', 'populate[chef][sort]=salary']) {
        expect((await askAll(`/api/restaurants?${query}`)).status, query).toBe(400);
      }
    });

    test('issue 11869: operators glued to the name, as in Strapi 3', async () => {
      for (const key of ['password_contains', 'secretPin_contains', 'internalNote_gt', 'chef.salary_gte']) {
        expect((await ask(`/api/restaurants?${key}=1`)).status).toBe(400);
        expect((await ask(`/api/restaurants?filters[${key}]=1`)).status).toBe(400);
      }
    });

    test('CVE-2022-30617, GHSA-f6fm-r26q-p747: entries and authors behind entries that are answered whole', async () => {
      for (const caller of [ask, askAll]) {
        const { body } = await caller('/api/restaurants?populate=*&pagination[pageSize]=100');
        expect(body.data.length).toBeGreaterThan(0);
        const text = JSON.stringify(body);
        for (const name of ['secretPin', 'internalNote', 'salary', 'password', 'createdBy', 'updatedBy']) {
          expect(text).not.toContain(`"${name}"`);
        }
      }
    });

    test('a search finds no text of a private attribute or a password', async () => {
      expect(await total('_q=note 1')).toBe(0);
      expect(await total('_q=pin1')).toBe(0);
      expect(await total('_q=$argon2')).toBe(0);
    });

    test('a cursor contains only values of the answer', async () => {
      const { body } = await ask(
        '/api/restaurants?pagination[cursor]=&pagination[pageSize]=2&sort=name&fields=name',
      );
      const [payload = ''] = String(body.meta.pagination.nextCursor).split('.');
      const text = Buffer.from(payload, 'base64url').toString();
      for (const value of ['note', 'pin']) expect(text).not.toContain(value);
    });

    test('names on Object.prototype are names that do not exist', async () => {
      for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
        for (const query of [
          `filters[${name}]=1`,
          `filters[chef][${name}]=1`,
          `populate[${name}]=true`,
          `fields=${name}`,
        ]) {
          expect((await ask(`/api/restaurants?${query}`)).status, query).toBe(400);
        }
      }
    });

    test('the description of the API names nothing that is hidden', async () => {
      const { body, headers } = await ask('/openapi.json');
      expect([headers.get('cache-control'), headers.get('vary')]).toEqual([
        'private, no-cache',
        'Authorization',
      ]);
      const {
        Restaurant,
        'Restaurant.Input': input,
        'Restaurant.Filters': filters,
      } = body.components.schemas;
      for (const name of ['chef', 'category', 'logo']) {
        for (const schema of [Restaurant, input, filters]) expect(schema.properties).not.toHaveProperty(name);
      }
      expect(filters.properties).toHaveProperty('tags');
      expect(Object.keys(body.paths).sort()).toEqual(
        [
          '/_health',
          '/_varve/tickets',
          '/api/_changes',
          '/api/articles',
          '/api/articles/_suggest',
          '/api/restaurants',
          '/api/restaurants/_suggest',
          '/api/restaurants/{documentId}',
          '/api/tags',
          '/api/tags/_suggest',
          '/api/users',
          '/api/users/count',
        ].sort(),
      );
      expect(JSON.stringify(body)).not.toContain('publicationFilter');
    });
  });
}
