import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { readArchiveSchemas } from '../../services/strapi/archive-schemas.ts';
import { importArchive } from '../../services/strapi/import-archive.ts';
import { validateEvent } from '../../shared/events/validate-event.ts';
import { assembleContentTypes } from '../../shared/schema/load-content-types.ts';
import { makeProject, writeForm } from '../support/odd-archives.ts';
import { count } from '../support/takes-minutes.ts';

const folder = mkdtempSync(join(tmpdir(), 'varve-damaged-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let made = 0;

/** Values that code which expects another one often fails on. */
const ODD_VALUES: readonly unknown[] = [
  ...[null, 0, -1, 1.5, 1e308, '', 'x', '2026-13-45', true, [], {}, [null], [[]], [1, 'a', null, {}]],
  ...['\u0000', '\ud800', '__proto__', 'constructor', { toString: 1 }, { constructor: null }, { id: 1 }],
  ...[[{ id: 1 }, { id: 1 }], [{ __component: 'box.one' }], '9223372036854775808', { set: [1] }],
  JSON.parse('['.repeat(500) + ']'.repeat(500)),
];

/** Replaces the value at a path that the numbers choose. */
function damaged(value: unknown, path: readonly number[], odd: unknown): unknown {
  const [at, ...rest] = path;
  if (at === undefined || typeof value !== 'object' || value === null) return odd;
  const keys = Object.keys(value);
  const key = keys[at % Math.max(1, keys.length)];
  if (key === undefined) return odd;
  const inner = damaged((value as Record<string, unknown>)[key], rest, odd);
  return Array.isArray(value)
    ? value.map((each, index) => (String(index) === key ? inner : each))
    : { ...value, [key]: inner };
}

const DAMAGE = fc.array(
  fc.record({
    part: fc.constantFrom('entities', 'links', 'configuration'),
    line: fc.nat(20),
    path: fc.array(fc.nat(12), { minLength: 1, maxLength: 4 }),
    odd: fc.nat(ODD_VALUES.length - 1),
  }),
  { minLength: 1, maxLength: 6 },
);

it('an archive with damaged lines is imported, or refused with the name of its line', {
  timeout: 300_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(4, 5) as fc.Arbitrary<4 | 5>, DAMAGE, async (version, damages) => {
      const { content } = makeProject(version, 'nothing');
      const parts = structuredClone({ ...content, uploads: {} });
      for (const { part, line, path, odd } of damages) {
        const lines = parts[part as 'entities'] as unknown[];
        const at = line % lines.length;
        lines[at] = damaged(lines[at], path, ODD_VALUES[odd]);
      }
      const file = await writeForm(join(folder, String(++made)), 'tar', parts, false);
      const loaded = assembleContentTypes(await readArchiveSchemas({ file }));
      if (loaded.kind === 'problems') throw new Error('problems');
      const importing = importArchive({
        ...{ file, registry: loaded.registry, defaultLocale: 'en', space: 'varve', epoch: 1, roleDrafts: [] },
        stagingFile: join(folder, `${made}.db`),
        graph: { documentOfId: () => undefined, streamRevision: () => undefined },
        async write({ events }) {
          for (const event of events)
            expect(validateEvent({ ...event, data: JSON.parse(JSON.stringify(event.data)) })).toBeUndefined();
          return [];
        },
        takeAsset: async () => {},
        defineRoles: async () => {},
        onBytes: () => {},
        onDocuments: () => {},
      });
      const outcome = await importing.catch((error: Error) => error);
      if (outcome instanceof Error)
        expect(outcome.message, outcome.stack).toMatch(
          /, line \d+: must be |the default locale of the archive is/,
        );
      else expect(outcome.mismatches).toEqual([]);
    }),
    {
      numRuns: count(400, 40),
      // A published row with the id 0, of which a draft without an id is made.
      examples: [[4, [{ part: 'entities', line: 3, path: [4, 0], odd: ODD_VALUES.indexOf(0) }]]],
    },
  );
});
