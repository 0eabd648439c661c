import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Command } from '../../services/command/command.ts';
import { RequestError } from '../../shared/request-error.ts';
import { type Attribute, type Model, type ScalarType, USER_TYPE } from '../../shared/schema/content-type.ts';
import { componentOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { corpusSchemas, openCommandWorld } from '../unit/command-world.ts';

const oddText = fc.constantFrom(
  '',
  '0',
  '-1',
  '1e400',
  'null',
  '[]',
  '{"a":1}',
  '2024-02-30',
  '\u0000',
  '\ud800',
  '__proto__',
);
const text = fc.oneof(oddText, fc.string({ unit: 'binary', maxLength: 12 }));
const number = fc.oneof(
  fc.constantFrom(0, -0, 1, 1.005, 2 ** 31, 2 ** 53, 1e21, 1e308, -1e308, Number.POSITIVE_INFINITY),
  fc.integer(),
  fc.double({ noNaN: true }),
);
const anything: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.oneof(text, number, fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(
      fc.oneof(
        text,
        fc.constantFrom('id', 'documentId', 'set', 'connect', 'disconnect', 'position', '__component'),
        fc.constantFrom('toString', 'valueOf', 'toJSON', 'constructor', 'length'),
      ),
      tie('value'),
      { maxKeys: 3 },
    ),
  ),
})).value;

/** Generates almost correct bodies: a few known keys, and values that mostly have the right shape. */
function dataOf(
  registry: SchemaRegistry,
  model: Model,
  depth: number,
): fc.Arbitrary<Record<string, unknown>> {
  return fc
    .subarray([...model.attributes.values()], { maxLength: Math.min(4, model.attributes.size) })
    .chain((attributes) => {
      const members = attributes.map((attribute) => [
        attribute.name,
        fc.oneof(
          { weight: 1, arbitrary: anything },
          { weight: 6, arbitrary: likely(registry, attribute, depth) },
        ),
      ]);
      return fc.record(Object.fromEntries(members));
    });
}

const RIGHT: { readonly [type in ScalarType]?: fc.Arbitrary<unknown> } = {
  enumeration: fc.constant(null),
  integer: fc.nat(10),
  biginteger: fc.nat(10),
  decimal: fc.double({ min: 0, max: 1000, noNaN: true }),
  float: fc.double({ noNaN: true, noDefaultInfinity: true }),
  boolean: fc.boolean(),
  date: fc.constant('2024-02-29'),
  time: fc.constant('08:30:00.5'),
  datetime: fc.constantFrom('2024-01-01T10:00:00Z', 0),
  json: fc.record({ a: text }),
  blocks: fc.constant([{ type: 'paragraph', children: [{ type: 'text', text: 'x' }] }]),
};

function likely(registry: SchemaRegistry, attribute: Attribute, depth: number): fc.Arbitrary<unknown> {
  const id = fc.integer({ min: 1, max: 3 });
  const reference = fc.oneof(id, fc.record({ id }), fc.record({ id, position: anything }));
  const list = fc.array(reference, { maxLength: 3 });
  switch (attribute.kind) {
    case 'scalar':
      return RIGHT[attribute.type] ?? fc.string({ minLength: 3, maxLength: 12 });
    case 'relation':
      return fc.oneof(
        reference,
        list,
        fc.record({ connect: list, disconnect: list }),
        fc.record({ set: list }),
      );
    case 'component': {
      if (depth === 0) return anything;
      const item = dataOf(registry, componentOf(registry, attribute.component), depth - 1);
      return attribute.repeatable ? fc.array(item, { maxLength: 2 }) : item;
    }
    case 'dynamiczone':
      return fc.array(
        fc.oneof(
          ...attribute.components.map((uid) =>
            dataOf(registry, componentOf(registry, uid), 1).map((data) => ({ __component: uid, ...data })),
          ),
          fc.record({ __component: anything }),
        ),
        { maxLength: 3 },
      );
  }
}

/** Attributes that a type requires in addition to its key. */
const MORE: Readonly<Record<string, object>> = {
  file: { hash: 'h', mime: 'm', size: 1, url: 'u', provider: 'p' },
};

test('a command with any body is executed or refused with 400', async () => {
  const seed = Number(process.env['VARVE_SEED'] ?? 14);
  console.log(`seed ${seed} (set VARVE_SEED to repeat)`);
  const world = await openCommandWorld(corpusSchemas());
  try {
    const types = [...world.registry.contentTypes.values()].filter(({ uid }) => uid !== USER_TYPE);
    const existing = new Map<string, string>();
    for (const type of types) {
      for (let n = 0; n < 4; n++) {
        const data = { [type.attributes.has('key') ? 'key' : 'name']: `${n}`, ...MORE[type.singularName] };
        const result = await world.execute({
          kind: 'create',
          type: type.uid,
          status: 'draft',
          body: { data },
        });
        existing.set(type.uid, result.documentId);
      }
    }
    const command: fc.Arbitrary<Command> = fc.constantFrom(...types).chain((type) => {
      const base = {
        type: fc.constant(type.uid),
        status: fc.constantFrom('draft', 'published', undefined),
        body: fc.oneof(
          { weight: 12, arbitrary: fc.record({ data: dataOf(world.registry, type, 2) }) },
          { weight: 1, arbitrary: anything },
        ),
      };
      return fc.oneof(
        fc.record({ kind: fc.constant('create' as const), ...base }),
        fc.record({
          kind: fc.constant('update' as const),
          documentId: fc.constant(existing.get(type.uid)!),
          ...base,
        }),
      );
    });
    const outcomes = { done: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(command, async (generated) => {
        // Bodies arrive as JSON.
        const body = 'body' in generated ? JSON.parse(JSON.stringify(generated.body ?? null)) : undefined;
        try {
          await world.execute({ ...generated, body } as Command);
          outcomes.done += 1;
        } catch (error) {
          if (!(error instanceof RequestError)) throw error;
          expect(['invalid-body', 'not-applicable']).toContain(error.code);
          expect(error.message).not.toBe('');
          outcomes.refused += 1;
        }
      }),
      { seed, numRuns: 1500 },
    );
    expect(outcomes.done).toBeGreaterThan(200);
    expect(outcomes.refused).toBeGreaterThan(200);
  } finally {
    await world.close();
  }
}, 300_000);
