import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { planErasure } from '../../services/erasure/plan-erasure.ts';
import { readLease } from '../../services/fleet/lease-view.ts';
import { openEventStore } from '../../services/stores/open-event-store.ts';
import type { ErasureEvent } from '../../shared/erasure/erasure-events.ts';
import { erasureStream } from '../../shared/erasure/erasure-events.ts';
import { newEvent } from '../../shared/events/new-event.ts';
import { upcast } from '../../shared/events/upcasters.ts';
import { type Ask, createAsk } from '../support/access-client.ts';
import { findWords } from '../support/find-words.ts';
import { KILLED_STEPS, type KilledStep } from '../support/plant-kill.ts';
import { articleTypes } from '../support/released-articles.ts';
import { runVarve } from '../support/run-varve.ts';
import { createDataDirectory, type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const TYPE = 'api::restaurant.restaurant';
const SPACE = 'varve';
const PLANT = fileURLToPath(new URL('../support/plant-kill.ts', import.meta.url));
/** True where the words are left when a server was killed before a step: in the log, and in a snapshot of a past. */
const LEFT: Readonly<Record<KilledStep, readonly [log: boolean, snapshot: boolean]>> = {
  proof: [true, true],
  'clean files': [false, true],
  record: [false, false],
};

/** A server that is killed and started again. */
type Killed = { readonly data: string; ask: Ask; server: RunningServer };

async function start(): Promise<Killed> {
  const data = createDataDirectory();
  const server = await startServer({ data });
  const killed = { data, server, ask: createAsk(server.url) };
  onTestFinished(async () => {
    await killed.server.dispose();
    rmSync(data, { recursive: true, force: true });
  });
  return killed;
}

async function killAndStart(killed: Killed): Promise<void> {
  await killed.server.stop('SIGKILL');
  killed.server = await startServer({ data: killed.data });
  killed.ask = createAsk(killed.server.url);
}

async function create({ ask }: Killed, word: string): Promise<string> {
  const body = { data: { key: word, name: word, address: { street: word } } };
  const created = await ask('/api/restaurants?status=published', { method: 'POST', body });
  expect(created.status).toBe(201);
  return created.body.data.documentId;
}

function erase({ ask }: Killed, documentId: string) {
  return ask('/_varve/erasures', { method: 'POST', body: { data: { type: TYPE, documentId, confirm: 1 } } });
}

/** Returns whether an erasure was ordered. Waits until it is carried out. */
async function carriedOut({ ask }: Killed, documentId: string): Promise<boolean> {
  for (;;) {
    const { data } = (await ask('/_varve/erasures')).body as {
      data: readonly { documentId: string; erased: boolean }[];
    };
    const order = data.find((each) => each.documentId === documentId);
    if (order === undefined || order.erased) return order !== undefined;
    await delay(20);
  }
}

async function expectErased(killed: Killed, words: readonly string[]): Promise<void> {
  expect(await findWords(killed.data, words)).toEqual([]);
  const verified = await runVarve(['verify', '--data', killed.data]);
  expect(verified, verified.stdout + verified.stderr).toMatchObject({ code: 0 });
}

/** Appends events as a leader had that was killed after it. The server is stopped. */
async function appendErasure(data: string, documentId: string, steps: 'ordered' | 'proved'): Promise<void> {
  const log = await openEventStore(`sqlite:${join(data, 'events.db')}`, { space: SPACE, decode: upcast });
  const { epoch } = await readLease(log, SPACE);
  const append = async (event: ErasureEvent) => {
    const stored = newEvent(event, { at: new Date().toISOString(), epoch });
    await log.append(erasureStream(SPACE), 'any', [stored]);
    return stored.id;
  };
  const order = await append({ type: 'erasure-ordered', data: { type: TYPE, documentId, reason: null } });
  if (steps === 'proved') {
    const events = await planErasure({ log, space: SPACE }, { order, type: TYPE, documentId });
    await append({ type: 'document-erased', data: { order, type: TYPE, documentId, events } });
  }
  await log.close();
}

describe('an erasure whose server is killed', takesMinutes('kills during erasures'), () => {
  it('is completed by the next start, whenever that was', async () => {
    const killed = await start();
    const words: string[] = [];
    for (let round = 0; round < 8; round++) {
      const word = `Wexfordling${round}`;
      words.push(word);
      const documentId = await create(killed, word);
      const asked = erase(killed, documentId).catch(() => undefined);
      await delay(round * 20);
      await killAndStart(killed);
      await asked;
      if (!(await carriedOut(killed, documentId))) expect((await erase(killed, documentId)).status).toBe(200);
      expect(await findWords(killed.data, words), `round ${round}`).toEqual([]);
    }
    await expectErased(killed, words);
  }, 900_000);

  it('is completed after the order, after the proof, and before the files are clean', async () => {
    const killed = await start();
    const ordered = await create(killed, 'Orderbrook');
    await killed.server.stop();
    await appendErasure(killed.data, ordered, 'ordered');
    await killAndStart(killed);
    expect(await carriedOut(killed, ordered)).toBe(true);
    const proved = await create(killed, 'Provenholt');
    await killed.ask(`/api/restaurants/${proved}`, { method: 'DELETE' });
    await killed.server.stop();
    await appendErasure(killed.data, proved, 'proved');
    const unproved = await runVarve(['verify', '--data', killed.data]);
    expect(unproved.stdout).toMatch(/it says that revision 0 of .* was erased, which still has its content/);
    await killAndStart(killed);
    expect(await carriedOut(killed, proved)).toBe(true);
    await killed.server.stop();
    // A server that is killed before its files are clean leaves them as they were, such as a snapshot for pasts.
    rmSync(join(killed.data, 'erasures.json'));
    const past = join(killed.data, 'past');
    mkdirSync(past, { recursive: true });
    writeFileSync(join(past, '1-1-1.db.zst'), 'Provenholt');
    expect(await findWords(killed.data, ['Provenholt'])).not.toEqual([]);
    await killAndStart(killed);
    expect(await carriedOut(killed, proved)).toBe(true);
    await expectErased(killed, ['Orderbrook', 'Provenholt']);
  }, 900_000);

  it.for(KILLED_STEPS)(
    'is completed after a kill before the step: %s',
    { timeout: 900_000 },
    async (step) => {
      const killed = await start();
      const documentId = await create(killed, 'Killingholme');
      const other = await create(killed, 'Otherby');
      await killed.server.stop();
      const env = { NODE_OPTIONS: `--import=${PLANT}`, PLANTED_KILL: step };
      killed.server = await startServer({ data: killed.data, env });
      killed.ask = createAsk(killed.server.url);
      const past = join(killed.data, 'past');
      mkdirSync(past, { recursive: true });
      const snapshot = join(past, '1-1-1.db.zst');
      writeFileSync(snapshot, 'Killingholme');
      const asked = erase(killed, documentId).catch(() => 'no answer');
      expect((await killed.server.exited).signal).toBe('SIGKILL');
      expect(await asked).toBe('no answer');
      const found = await findWords(killed.data, ['Killingholme']);
      const isIn = (file: string) => found.some((each) => each.startsWith(file));
      expect([isIn(join(killed.data, 'events.db')), isIn(snapshot)]).toEqual(LEFT[step]);
      killed.server = await startServer({ data: killed.data });
      killed.ask = createAsk(killed.server.url);
      expect(await carriedOut(killed, documentId)).toBe(true);
      await expectErased(killed, ['Killingholme']);
      expect((await killed.ask(`/api/restaurants/${other}`)).status).toBe(200);
    },
  );

  it('waits while its content type is not served, and is completed when it is', async () => {
    const killed = await start();
    const documentId = await create(killed, 'Absentmoor');
    await killed.server.stop();
    await appendErasure(killed.data, documentId, 'ordered');
    const others = articleTypes();
    onTestFinished(others.remove);
    killed.server = await startServer({ data: killed.data, contentTypes: others.folder });
    killed.ask = createAsk(killed.server.url);
    await expect
      .poll(killed.server.output)
      .toContain(`an erasure waits until the content type ${TYPE} is served again`);
    expect((await killed.ask('/_varve/erasures')).body.data).toMatchObject([{ documentId, erased: false }]);
    await killAndStart(killed);
    expect(await carriedOut(killed, documentId)).toBe(true);
    await expectErased(killed, ['Absentmoor']);
  });
});
