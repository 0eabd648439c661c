import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openContentGraph } from '../../projections/graph/content-graph.ts';
import { decodeEvent, type EventRow } from '../../shared/event-store/event-codec.ts';
import { metadataAsStrings } from '../../shared/event-store/event-metadata.ts';
import type { EventMetadata, StoredEvent } from '../../shared/event-store/event-store.ts';
import { EVENT_SCHEMAS } from '../../shared/events/event-schemas.ts';
import { EVENT_VERSIONS, type EventType } from '../../shared/events/event-versions.ts';
import { upcast } from '../../shared/events/upcasters.ts';
import { validateEvent } from '../../shared/events/validate-event.ts';

/** Logs of earlier versions of Varve, one line per event: `version-<schema version>.jsonl`. Never change them. */
const FOLDER = join(import.meta.dirname, 'stored-events');
const TYPES = [
  ...['content-type-defined', 'entry-created', 'entry-changed', 'entry-published', 'entry-unpublished'],
  ...['draft-discarded', 'entry-deleted'],
];

type Line = Record<'position' | 'revision', number> &
  Record<'stream' | 'id' | 'type', string> & { readonly data: unknown; readonly metadata: unknown };

function readVersion(version: number): readonly StoredEvent[] {
  const lines = readFileSync(join(FOLDER, `version-${version}.jsonl`), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line) => {
    const { position, stream, revision, id, type, data, metadata } = JSON.parse(line) as Line;
    const texts = [JSON.stringify(data), JSON.stringify(metadata)] as const;
    const row: EventRow = [BigInt(position), stream, BigInt(revision), id, type, ...texts];
    return decodeEvent(row, upcast);
  });
}

const EARLIER = [1];

describe('events of earlier schema versions, as they were stored', () => {
  it('exist for every version', () => {
    const files = EARLIER.map((version) => `version-${version}.jsonl`);
    expect(readdirSync(FOLDER).sort()).toEqual(['by-type', ...files]);
    expect(EARLIER.length).toBeGreaterThan(0);
  });

  it.each(EARLIER)('version %i: every type of event is converted to its current form', (version) => {
    const events = readVersion(version);
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(TYPES));
    for (const { type, metadata } of events)
      expect(metadata.schemaVersion).toBe(EVENT_VERSIONS[type as EventType]);
    for (const { type, data } of events) {
      if (type === 'content-type-defined') expect(data).toMatchObject({ defaultLocale: 'en' });
    }
  });

  it.each(EARLIER)('version %i: they give the content that was served at that time', (version) => {
    const folder = mkdtempSync(join(tmpdir(), 'varve-stored-'));
    const graph = openContentGraph(join(folder, 'graph.db'));
    graph.replay(readVersion(version));
    const rows = [...graph.readAll()].flatMap((batch) => batch.rows);
    const sources = rows.map(({ version: of, row }) => [
      of,
      JSON.parse(Buffer.from(row?.source ?? []).toString()),
    ]);
    graph.close();
    rmSync(folder, { recursive: true });
    expect(sources).toMatchObject([
      ['live', { id: 2, name: 'Bob', age: 40 }],
      ['draft', { id: 1, title: 'Hello 3', code: 'x1', locale: 'en', publishedAt: null }],
      ['published', { id: 5, title: 'Hello 3', code: 'x1', locale: 'en' }],
      ['draft', { id: 3, title: 'Hallo', code: 'x1', locale: 'de', publishedAt: null }],
      ['published', { id: 4, title: 'Hallo', code: 'x1', locale: 'de' }],
    ]);
  });
});

/** One event of every version of every type, `<type>.<version>.json`. Never change them either. */
describe('an event of every version of every type', () => {
  const versions = Object.entries(EVENT_SCHEMAS).flatMap(([type, schemas]) =>
    schemas.map((_schema, index) => `${type}.${index + 1}.json`),
  );

  it('exists', () => {
    expect(readdirSync(join(FOLDER, 'by-type')).sort()).toEqual(versions.sort());
  });

  it.each(versions)('%s matches its schema, and is converted to the newest version', (name) => {
    const line = JSON.parse(readFileSync(join(FOLDER, 'by-type', name), 'utf8')) as Line;
    const { stream, revision, id, type, data, metadata } = line;
    expect(name).toBe(`${type}.${(metadata as EventMetadata).schemaVersion}.json`);
    expect(validateEvent({ type, data, metadata: metadata as EventMetadata })).toBeUndefined();
    for (const stored of [metadata, metadataAsStrings(metadata as EventMetadata)]) {
      const texts = [JSON.stringify(data), JSON.stringify(stored)] as const;
      const read = decodeEvent([1n, stream, BigInt(revision), id, type, ...texts], upcast);
      expect(read.unreadable).toBeUndefined();
      expect(read.metadata.schemaVersion).toBe(EVENT_VERSIONS[type as EventType]);
      expect(validateEvent(read)).toBeUndefined();
    }
  });
});

describe('validateEvent', () => {
  const metadata = { schemaVersion: 2, at: '2026-03-04T05:06:07.089Z', epoch: 1 };
  const data = { type: 'api::tag.tag', documentId: 'a', locale: null };
  const valid = { type: 'entry-deleted', data, metadata };
  it.each([
    ['a field too many', { ...valid, data: { ...data, by: 'x' } }, /its data .*Unrecognized key/],
    ['a field of another type', { ...valid, data: { ...data, documentId: 7 } }, /its data .*documentId/s],
    ['a missing field', { ...valid, data: { type: 'x', documentId: 'a' } }, /its data .*locale/s],
    ['no time', { ...valid, metadata: { ...metadata, at: 'noon' } }, /its metadata .*at/s],
    [
      'a text as author',
      { ...valid, metadata: { ...metadata, actor: 'x' as never } },
      /its metadata .*actor/s,
    ],
    ['a version that never was', { ...valid, metadata: { ...metadata, schemaVersion: 9 } }, /no version 9/],
  ])('finds %s', (_name, event, problem) => {
    expect(validateEvent(valid)).toBeUndefined();
    expect(validateEvent(event)).toMatch(problem);
  });
});
