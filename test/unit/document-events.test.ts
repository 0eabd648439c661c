import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openContentGraph } from '../../projections/graph/content-graph.ts';
import { graphFile } from '../../projections/graph/store/generation-files.ts';
import { documentEvents } from '../../services/cli/commands/document-events.ts';
import { type DocumentEvent, isDocumentEvent } from '../../shared/document/events.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { EVENT_VERSIONS } from '../../shared/events/event-versions.ts';
import { DEFINITIONS } from './graph-fixture.ts';

const DOCUMENT_EVENTS: Readonly<Record<DocumentEvent['type'], true>> = {
  'entry-created': true,
  'entry-changed': true,
  'entry-published': true,
  'entry-unpublished': true,
  'draft-discarded': true,
  'entry-deleted': true,
  'entry-imported': true,
};

it('the events of a document are known by their type', () => {
  const found = Object.keys(EVENT_VERSIONS).filter((type) => isDocumentEvent({ type }));
  expect(found.sort()).toEqual(Object.keys(DOCUMENT_EVENTS).sort());
});

it('the events of a document are read only from its stream', async () => {
  const data = mkdtempSync(join(tmpdir(), 'varve-document-'));
  const log = openSqliteEventStore(join(data, 'events.db'), { space: 'varve' });
  onTestFinished(async () => {
    await log.close();
    rmSync(data, { recursive: true });
  });
  const metadata = { schemaVersion: 2, at: '2026-03-04T05:06:07.089Z', epoch: 0 };
  for (const event of DEFINITIONS)
    await log.append('varve.content_type-x', 'any', [{ id: randomUUID(), ...event, metadata }]);
  const uid = DEFINITIONS.flatMap(({ data }) => ('uid' in data ? [data.uid] : [])).find((name) =>
    name.startsWith('api::'),
  );
  for (const documentId of ['a', 'b', 'a']) {
    const stream = `varve.${uid?.replaceAll(/[^a-zA-Z0-9]/g, '_')}-${documentId}`;
    const deleted = { type: uid, documentId, locale: null };
    await log.append(stream, 'any', [{ id: randomUUID(), type: 'entry-deleted', data: deleted, metadata }]);
  }
  // Without a graph the content types are unknown, so the log must be searched.
  expect(await documentEvents(log, { data, space: 'varve' }, 'a')).toBeUndefined();
  const graph = openContentGraph(graphFile(data, 1));
  for await (const events of log.readAll(0n)) graph.replay(events.slice(0, DEFINITIONS.length));
  graph.close();
  const streams: string[] = [];
  const watched: typeof log = {
    ...log,
    readStream(stream, from) {
      streams.push(stream);
      return log.readStream(stream, from);
    },
    readAll: () => expect.fail('the whole log is read'),
  };
  const found = await documentEvents(watched, { data, space: 'varve' }, 'a');
  expect(found?.map(({ revision }) => revision)).toEqual([0n, 1n]);
  expect(streams.every((stream) => stream.endsWith('-a'))).toBe(true);
});
