import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openContentGraph } from '../../projections/content-graph.ts';
import { upcast } from '../../shared/document/upcasters.ts';
import { decodeEvent, type EventRow } from '../../shared/event-store/event-codec.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { EVENT_VERSIONS, type EventType } from '../../shared/events/event-versions.ts';

/** Logs that earlier versions of Varve wrote, a line per event: `version-<schema version>.jsonl`. They are never changed. */
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
  it('are here for every version', () => {
    const files = EARLIER.map((version) => `version-${version}.jsonl`);
    expect(readdirSync(FOLDER).sort()).toEqual(files);
    expect(EARLIER.length).toBeGreaterThan(0);
  });

  it.each(EARLIER)('version %i: every type of event is brought to the shape of today', (version) => {
    const events = readVersion(version);
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(TYPES));
    for (const { type, metadata } of events)
      expect(metadata.schemaVersion).toBe(EVENT_VERSIONS[type as EventType]);
    for (const { type, data } of events) {
      if (type === 'content-type-defined') expect(data).toMatchObject({ defaultLocale: 'en' });
    }
  });

  it.each(EARLIER)('version %i: they add up to what was served then', (version) => {
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
