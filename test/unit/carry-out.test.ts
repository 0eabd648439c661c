import { expect, it } from 'vitest';
import type { NewAction } from '../../services/releases/release-commands.ts';
import { schemasOf, valuesOf } from './command-world.ts';
import { newReleaseWorld } from './release-world.ts';

const PAGE = 'api::page.page';
const localized = { pluginOptions: { i18n: { localized: true } } };
const schemas = schemasOf({
  page: { attributes: { title: { type: 'string', ...localized } }, ...localized },
});
const request = { name: 'pages', scheduledAt: null, timezone: null };
const publication = (entryDocumentId: string, locale: string): NewAction => ({
  type: 'publish',
  contentType: PAGE,
  entryDocumentId,
  locale,
});

it('publishes nothing of a release of two locales on a store that appends to one stream at a time', async () => {
  const { world, commands, publish, put } = await newReleaseWorld(schemas, false);
  const create = { kind: 'create', type: PAGE, status: 'draft', body: { data: { title: 'a' } } } as const;
  const { documentId } = await world.execute({ ...create, locale: 'en' });
  const { release } = await commands.add(request);
  const actions = [publication(documentId, 'en'), publication(documentId, 'de')];
  await expect(commands.addActions(release.id, actions)).rejects.toMatchObject({
    code: 'not-supported',
    message: expect.stringContaining('only one entry'),
  });
  await put(release.id, actions);
  expect(await publish(release.id)).toMatchObject({
    kind: 'failed',
    release: { failure: { problems: [{ reason: expect.stringContaining('only one entry') }] } },
  });
  expect(valuesOf(world, PAGE, documentId, 'published', 'en')).toBeUndefined();
});

it('fails a release whose content type is gone, with the reason', async () => {
  const { world, commands, publish, removeTypes } = await newReleaseWorld(schemas, false);
  const create = { kind: 'create', type: PAGE, status: 'draft', body: { data: { title: 'a' } } } as const;
  const { documentId } = await world.execute({ ...create, locale: 'en' });
  const ids: number[] = [];
  for (const name of ['first', 'second']) {
    const { release } = await commands.add({ ...request, name });
    await commands.addActions(release.id, [publication(documentId, 'en')]);
    ids.push(release.id);
  }
  const [first, second] = ids as [number, number];
  expect(await publish(first)).toMatchObject({ kind: 'done' });
  expect(valuesOf(world, PAGE, documentId, 'published', 'en')).toMatchObject({ title: 'a' });
  removeTypes();
  expect(await publish(second)).toMatchObject({
    kind: 'failed',
    release: { failure: { problems: [{ reason: `There is no content type ${PAGE}` }] } },
  });
});

it('carries a release out while others are added all the time', async () => {
  const { world, commands, publish } = await newReleaseWorld(schemas, true);
  const actions: NewAction[] = [];
  for (let n = 0; n < 120; n++) {
    const body = { data: { title: `page ${n}` } };
    const made = await world.execute({ kind: 'create', type: PAGE, status: 'draft', locale: 'en', body });
    actions.push(publication(made.documentId, 'en'));
  }
  const { release } = await commands.add(request);
  await commands.addActions(release.id, actions);
  let isAdding = true;
  const add = async () => {
    for (let n = 0; isAdding && n < 900; n++) await commands.add({ ...request, name: `other ${n}` });
  };
  const adding = add();
  const published = publish(release.id).finally(() => {
    isAdding = false;
  });
  expect(await published).toMatchObject({ kind: 'done' });
  await adding;
});

it('ends as carried out if the log has stored the release without an answer', async () => {
  const { world, commands, publish, loseAnswers } = await newReleaseWorld(schemas, true);
  const create = { kind: 'create', type: PAGE, status: 'draft', body: { data: { title: 'a' } } } as const;
  const { documentId } = await world.execute({ ...create, locale: 'en' });
  const { release } = await commands.add(request);
  await commands.addActions(release.id, [publication(documentId, 'en')]);
  loseAnswers();
  const ended = await publish(release.id);
  expect(ended).toMatchObject({ kind: 'done', release: { id: release.id, failure: null } });
  expect(ended.kind === 'done' && ended.release.releasedAt).toEqual(expect.any(String));
  expect(await publish(release.id)).toEqual({ kind: 'gone' });
});
