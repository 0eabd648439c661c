import { randomUUID } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { createCommandHandler } from '../../services/command/command-handler.ts';
import { randomDocumentId } from '../../services/command/document-id.ts';
import type { CommandEnvironment } from '../../services/command/environment.ts';
import { createTogether } from '../../services/command/publish-together.ts';
import { createCarryOut } from '../../services/releases/carry-out.ts';
import { createReleaseCommands, type NewAction } from '../../services/releases/release-commands.ts';
import { watchReleases } from '../../services/releases/watch-releases.ts';
import { newEvent } from '../../shared/events/new-event.ts';
import { createEffectiveEvents } from '../../shared/fleet/effective-events.ts';
import { createLocks } from '../../shared/locks.ts';
import { releaseStream } from '../../shared/releases/release-events.ts';
import { newCommandWorld, schemasOf, valuesOf } from './command-world.ts';

const SPACE = 'varve';
const PAGE = 'api::page.page';
const localized = { pluginOptions: { i18n: { localized: true } } };
const schemas = schemasOf({
  page: { attributes: { title: { type: 'string', ...localized } }, ...localized },
});
const author = { actor: { kind: 'operator' } } as const;

/** Releases on a store that cannot append to several streams together. */
async function openInTurn() {
  const world = await newCommandWorld(schemas);
  const log = { ...world.store, checksConditions: async () => false };
  let { registry } = schemas;
  const environment: CommandEnvironment = {
    eventStore: log,
    graph: world.graph.reader,
    applied: world.applied,
    registry: () => registry,
    defaultLocale: 'en',
    space: SPACE,
    lead: () => ({ epoch: 0 }),
    now: () => new Date(),
    newDocumentId: randomDocumentId,
    newEventId: randomUUID,
  };
  const locks = createLocks();
  const known = await watchReleases(log, SPACE, () => {});
  onTestFinished(() => known.close());
  const shared = { log, space: SPACE, known, lead: environment.lead, now: environment.now };
  const commands = createReleaseCommands({ ...shared, author: () => author });
  const carryOut = createCarryOut({
    ...shared,
    events: createEffectiveEvents(log, SPACE),
    commands,
    together: createTogether(environment, locks),
    single: createCommandHandler(environment, locks),
  });
  return {
    world,
    commands,
    publish: (id: number) => carryOut(id, { author, isDue: false }),
    removeTypes() {
      registry = { ...registry, contentTypes: new Map() };
    },
    /** Stores actions as an earlier version of Varve did, which accepted those of one document. */
    async put(id: number, actions: readonly NewAction[]) {
      const put = actions.map((action, at) => ({ id: at + 1, ...action }));
      const metadata = { at: new Date().toISOString(), epoch: 0 };
      const changed = newEvent({ type: 'release-changed', data: { id, put, removed: [] } }, metadata);
      await log.append(releaseStream(SPACE), 'any', [changed]);
    },
  };
}

const request = { name: 'pages', scheduledAt: null, timezone: null };
const publication = (entryDocumentId: string, locale: string): NewAction => ({
  type: 'publish',
  contentType: PAGE,
  entryDocumentId,
  locale,
});

it('publishes nothing of a release of two locales on a store that appends to one stream at a time', async () => {
  const { world, commands, publish, put } = await openInTurn();
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
  const { world, commands, publish, removeTypes } = await openInTurn();
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
