import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EVENT_SCHEMAS } from '../../shared/events/event-schemas.ts';
import { EVENT_VERSIONS } from '../../shared/events/event-versions.ts';
import { eventSchemaFiles, importLineSchema } from './event-schemas.ts';

const FOLDER = join(import.meta.dirname, '../../docs/events');
const files = eventSchemaFiles();

/**
 * Digests of the schemas of versions that logs may hold. A new version gets a new line. An existing line never changes: a
 * changed field is a new version.
 */
const RELEASED: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'event-schema-digests.json'), 'utf8'),
);

it.each([...files])('docs/events/%s equals the schema in the code', async (name, text) => {
  await expect(text).toMatchFileSnapshot(join(FOLDER, name));
});

it('docs/import-line.json equals the schema in the code', async () => {
  await expect(importLineSchema()).toMatchFileSnapshot(join(FOLDER, '../import-line.json'));
});

it('docs/events has no other files', () => {
  expect(readdirSync(FOLDER).sort()).toEqual([...files.keys()].sort());
});

describe('no field of a version changes', () => {
  const versioned = [...files].filter(([name]) => name !== 'metadata.json');
  it.each(versioned)('%s', (name, text) => {
    const digest = hash('sha256', JSON.stringify(withoutWords(JSON.parse(text))));
    const [type, version] = name.split('.');
    expect(
      digest,
      `the fields of ${type}, version ${version} are not those that were released: add version ${Number(version) + 1}`,
    ).toBe(RELEASED[name]);
  });

  it('no field is removed', () => {
    expect(Object.keys(RELEASED).sort()).toEqual(versioned.map(([name]) => name).sort());
  });
});

it('the newest version of every type is the one that is written', () => {
  const newest = Object.entries(EVENT_SCHEMAS).map(([type, versions]) => [type, versions.length]);
  expect(Object.fromEntries(newest)).toEqual(EVENT_VERSIONS);
});

/** Returns a schema without titles and descriptions, which may change. */
function withoutWords(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutWords);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(
    ([name, inner]) => !(typeof inner === 'string' && ['title', 'description'].includes(name)),
  );
  return Object.fromEntries(entries.map(([name, inner]) => [name, withoutWords(inner)]));
}
