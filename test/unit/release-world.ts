import { randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';
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
import { newCommandWorld, type Schemas } from './command-world.ts';

const SPACE = 'varve';
const author = { actor: { kind: 'operator' } } as const;

/** Opens releases with a real log and a real graph. `isWhole` false: the log cannot append to several streams together. */
export async function newReleaseWorld(schemas: Schemas, isWhole: boolean) {
  const world = await newCommandWorld(schemas);
  let losesAnswers = false;
  const log: typeof world.store = {
    ...world.store,
    checksConditions: async () => isWhole,
    async appendTogether(...appends) {
      const result = await world.store.appendTogether(...appends);
      if (losesAnswers) throw new Error('the answer was lost');
      return result;
    },
  };
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
  const { lead, now } = environment;
  const shared = { log, space: SPACE, known, lead, now, locks: createLocks() };
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
    /** The log stores what is appended to several streams from now on, and does not answer. */
    loseAnswers() {
      losesAnswers = true;
    },
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
