import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CONFORMANCE_SCHEMA, spawnVarve, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Two processes of one log whose folders of content types differ. */
const folder = mkdtempSync(join(tmpdir(), 'varve-types-'));
const eventStore = `sqlite:${join(folder, 'events.db')}`;
const changed = join(folder, 'changed');
const ended: (() => void)[] = [];

beforeAll(() => {
  cpSync(CONFORMANCE_SCHEMA, changed, { recursive: true });
  const note = join(changed, 'api/note/content-types/note');
  mkdirSync(note, { recursive: true });
  writeFileSync(
    join(note, 'schema.json'),
    JSON.stringify({
      kind: 'collectionType',
      collectionName: 'notes',
      info: { singularName: 'note', pluralName: 'notes', displayName: 'Note' },
      options: { draftAndPublish: false },
      attributes: { text: { type: 'string' } },
    }),
  );
});
afterAll(() => {
  for (const end of ended) end();
  rmSync(folder, { recursive: true, force: true });
});

it(
  'waits while the leader has other content types, says so, and serves when that process has ended',
  takesMinutes('content types of two processes'),
  async () => {
    const old = await startServer({ data: join(folder, 'old'), arguments: ['--event-store', eventStore] });
    ended.push(() => void old.stop('SIGKILL'));
    const fresh = spawnVarve(
      ['serve', '--content-types', changed, '--data', join(folder, 'fresh'), '--port', '0'].concat([
        ...['--event-store', eventStore],
      ]),
    );
    ended.push(() => void fresh.child.kill('SIGKILL'));
    await said(fresh, /waiting: the content types differ/);
    expect(fresh.output()).toContain('api::note.note');
    expect((await fetch(`${old.url}/api/tags`)).status).toBe(200);

    expect((await old.stop()).code).toBe(0);
    const [, url] = await said(fresh, /Varve serves .* at (http:\S+)/);
    const answer = await fetch(`${url}/api/notes`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ data: { text: 'new' } }),
    });
    expect(answer.status).toBe(201);

    // The old folder has one type fewer, and none that differs: it can serve together with the new one.
    const again = await startServer({ data: join(folder, 'old'), arguments: ['--event-store', eventStore] });
    ended.push(() => void again.stop('SIGKILL'));
    expect((await fetch(`${again.url}/api/tags`)).status).toBe(200);
    fresh.child.kill('SIGTERM');
    await fresh.exited;
    await again.stop('SIGTERM');
  },
);

it(
  'ends with a message when another process has changed the content types that it serves',
  takesMinutes('content types that another process changes'),
  async () => {
    const tag = join(changed, 'api/tag/content-types/tag/schema.json');
    const schema = JSON.parse(readFileSync(tag, 'utf8')) as { attributes: Record<string, unknown> };
    writeFileSync(
      tag,
      JSON.stringify({ ...schema, attributes: { ...schema.attributes, more: { type: 'string' } } }),
    );
    const old = await startServer({ data: join(folder, 'old'), arguments: ['--event-store', eventStore] });
    ended.push(() => void old.stop('SIGKILL'));
    // The leader is paused, so that the other process becomes leader although it has other content types.
    old.signal('SIGSTOP');
    const fresh = await startServer({
      ...{ data: join(folder, 'fresh'), contentTypes: changed },
      arguments: ['--event-store', eventStore],
    });
    ended.push(() => void fresh.stop('SIGKILL'));
    old.signal('SIGCONT');
    const exit = await old.exited;
    expect(exit.code).toBe(1);
    expect(exit.output).toMatch(/another process changed the content types \(api::tag\.tag\)/);
    expect((await fetch(`${fresh.url}/api/tags?fields=more`)).status).toBe(200);
    await fresh.stop();
  },
);

async function said(varve: ReturnType<typeof spawnVarve>, text: RegExp): Promise<RegExpExecArray> {
  for (;;) {
    const found = text.exec(varve.output());
    if (found !== null) return found;
    await Promise.race([
      new Promise((resolve) => varve.child.stdout?.once('data', resolve)),
      new Promise((resolve) => varve.child.stderr?.once('data', resolve)),
      varve.exited.then(({ output }) => {
        throw new Error(`varve ended: ${output}`);
      }),
    ]);
  }
}
