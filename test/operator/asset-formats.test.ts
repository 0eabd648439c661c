import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { runVarve } from '../support/run-varve.ts';
import { createDataDirectory, spawnVarve, startServer } from '../support/server.ts';
import { AT, archivedType, writeArchive } from '../support/strapi-archive.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { type FileAnswer, getJson, png, upload } from '../support/upload-client.ts';

/** `varve assets formats` makes the smaller pictures of files that were stored without them. */
const PICTURES = join(import.meta.dirname, '../pictures/files');
const LONG = { ...takesMinutes('formats of stored pictures'), timeout: 300_000 };
const picture = (name: string) => ({ name, bytes: readFileSync(join(PICTURES, name)) });

type Pictured = FileAnswer & {
  readonly formats: { readonly [name: string]: { readonly url: string } } | null;
};

function folderForTest(): string {
  const folder = mkdtempSync(join(tmpdir(), 'varve-formats-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function archivedPicture(id: number, name: string): object {
  const [hash] = name.split('.');
  const facts = { name, hash, ext: '.jpg', mime: 'image/jpeg', url: `/uploads/${name}` };
  const times = { createdAt: AT, updatedAt: AT, publishedAt: AT, locale: null };
  const more = { width: 1600, height: 1200, formats: null, provider: 'local' };
  return {
    type: 'plugin::upload.file',
    id,
    data: { documentId: `file${id}`.padEnd(24, '0'), ...facts, ...times, ...more },
  };
}

it('makes the formats of an upload that has none', async () => {
  const server = await startServer({ arguments: ['--picture-formats', 'off'] });
  onTestFinished(() => server.dispose());
  await upload(server, [picture('tall.jpg')]);
  const { stdout } = await runVarve(['assets', 'formats', '--data', server.data]);
  expect(stdout).toBe('1 pictures got formats\n');
  const [file] = await getJson<readonly Pictured[]>(server, '/api/upload/files');
  expect(Object.keys(file?.formats ?? {})).toEqual(['large', 'small', 'medium', 'thumbnail']);
});

it(
  'makes the formats of uploads and imported pictures, and names those that it cannot make',
  LONG,
  async () => {
    const data = createDataDirectory();
    onTestFinished(() => rmSync(data, { recursive: true, force: true }));
    const archive = await writeArchive(join(folderForTest(), 'files.tar.gz'), {
      schemas: [archivedType('page', { title: { type: 'string' } })],
      entities: [archivedPicture(7, 'sun_1.jpg'), archivedPicture(8, 'gone_2.jpg')],
      assets: { 'sun_1.jpg': picture('photo.jpg').bytes },
    });
    await runVarve(['import', archive, '--data', data]);
    const server = await startServer({
      data,
      contentTypes: archive,
      arguments: ['--picture-formats', 'off'],
    });
    onTestFinished(() => server.dispose());
    await upload(server, [
      picture('tall.jpg'),
      picture('tiny.png'),
      picture('drawing.svg'),
      picture('broken.png'),
    ]);

    const first = await runVarve(['assets', 'formats', '--data', data]);
    expect(first).toMatchObject({ code: 1, stdout: '2 pictures got formats\n' });
    expect(first.stderr).toMatch(/gone_2\.jpg \(file80+\): its content is elsewhere: \/uploads\/gone_2\.jpg/);
    expect(first.stderr).toMatch(/broken\.png \(\w+\): it is damaged/);
    const files = await getJson<readonly Pictured[]>(server, '/api/upload/files?sort=name');
    expect(files.map(({ name, formats }) => [name, Object.keys(formats ?? {})])).toEqual([
      ['broken.png', []],
      ['drawing.svg', []],
      ['gone_2.jpg', []],
      ['sun_1.jpg', ['large', 'small', 'medium', 'thumbnail']],
      ['tall.jpg', ['large', 'small', 'medium', 'thumbnail']],
      ['tiny.png', []],
    ]);
    // An import may replace an imported picture, and therefore also the smaller pictures that were made of it.
    const url = '/uploads/thumbnail_sun_1.jpg';
    expect(files[3]?.formats?.['thumbnail']).toMatchObject({ url, hash: 'thumbnail_sun_1' });
    const answer = await fetch(server.url + url);
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([
      200,
      'public, max-age=0, must-revalidate',
    ]);
    expect(await runVarve(['assets', 'formats', '--data', data])).toMatchObject({
      stdout: '0 pictures got formats\n',
    });
    const events = await runVarve([
      'events',
      '--type',
      'entry-changed',
      '--actor',
      'operator',
      '--data',
      data,
    ]);
    expect(events.stdout.trim().split('\n')).toHaveLength(2);
    await fetch(`${server.url}/api/upload/files/7`, { method: 'DELETE' });
    expect((await fetch(server.url + url)).status).toBe(404);
    await server.stop();
    const alone = await runVarve(['assets', 'formats', '--data', data]);
    expect(alone).toMatchObject({ code: 1, stdout: '' });
    expect(alone.stderr).toContain(
      'no server runs on the data directory: start it, then run the command again',
    );
  },
);

it('continues where it was killed', LONG, async () => {
  const data = createDataDirectory();
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const server = await startServer({ data, arguments: ['--picture-formats', 'off'] });
  onTestFinished(() => server.dispose());
  const pictures = Array.from({ length: 8 }, (_, i) => ({ name: `${i}.png`, bytes: png(600, 400, i) }));
  await upload(server, pictures);
  const without = async () => {
    const files = await getJson<readonly Pictured[]>(server, '/api/upload/files');
    return files.filter(({ formats }) => formats === null).length;
  };
  const { child, exited } = spawnVarve(['assets', 'formats', '--data', data]);
  await expect.poll(without, { interval: 20, timeout: 30_000 }).toBeLessThan(8);
  child.kill('SIGKILL');
  await exited;
  const { stdout } = await runVarve(['assets', 'formats', '--data', data]);
  expect(Number(stdout.split(' ')[0])).toBeLessThan(8);
  expect(await without()).toBe(0);
});
