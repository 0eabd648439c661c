import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFleet, type TestFleet } from '../support/fleet.ts';
import { type LogFacts, readGraph, readLogFacts, rebuildGraph } from '../support/log-judge.ts';
import { writeNoteTypes } from '../support/note-types.ts';
import { pauseMember } from '../support/pause-member.ts';
import { type BurstOutcome, type BurstWrite, nameOf, sendBurst } from '../support/write-burst.ts';

/**
 * Two `varve serve` on one log: the leader is paused while many writes are in flight, another process takes the lead, and the
 * paused one goes on. PAUSE_ROUNDS=100 PAUSE_WRITES=2500 PAUSE_SECONDS=12 for a full run. Pauses of more than 10 seconds outlast
 * every timer that a write waits for.
 */
const ROUNDS = Number(process.env['PAUSE_ROUNDS'] ?? 1);
const WRITES = Number(process.env['PAUSE_WRITES'] ?? 300);
const SECONDS = Number(process.env['PAUSE_SECONDS'] ?? 3);

describe(`a leader that is paused for ${SECONDS} s with ${WRITES} writes in flight, ${ROUNDS} times`, () => {
  const contentTypes = writeNoteTypes();
  let fleet: TestFleet;
  const outcomes: BurstOutcome[] = [];
  let prepared = 0;
  let takeovers = 0;
  beforeAll(async () => {
    fleet = await startFleet({ size: 2, contentTypes });
  });
  afterAll(async () => {
    await fleet?.dispose();
    rmSync(contentTypes, { recursive: true });
  });

  it('answers every write', { timeout: ROUNDS * (SECONDS * 1_000 + 60_000) + 60_000 }, async () => {
    for (let round = 1; round <= ROUNDS; round++) {
      const documents = await prepare(fleet, round);
      prepared += documents.length;
      const leader = await fleet.leader();
      const burst = sendBurst(fleet.members, writesOf(round, documents));
      // Anywhere in the burst: the paused process has stored some of it, and some lies in its sockets.
      await burst.answered(Math.floor((WRITES * ((round * 37) % 60)) / 100));
      await pauseMember(fleet, leader);
      await delay(SECONDS * 1_000);
      leader.server().signal('SIGCONT');
      const answered = await burst.outcomes;
      outcomes.push(...answered);
      expect(answered.filter(({ status }) => status === 0 || status === 500)).toEqual([]);
      const next = await fleet.leader();
      if (next !== leader) takeovers++;
      const duplicates = duplicatesIn(await readLogFacts(fleet.eventStore));
      const refused = answered
        .filter((outcome) => !isStored(outcome))
        .map(({ status, text }) => `${status} ${text}`);
      if (refused.length > 0) console.log([...new Set(refused)].join('\n'));
      console.log(
        `round ${round}: ${answered.filter(isStored).length} of ${answered.length} writes stored, ${duplicates.length} written twice`,
      );
    }
    expect(takeovers).toBeGreaterThan(0);
  });

  it('stores each acknowledged write once, no write twice, and nothing that does not count', async () => {
    const facts = await readLogFacts(fleet.eventStore);
    const lost = outcomes.filter((outcome) => isStored(outcome) && timesStored(facts, outcome) === 0);
    expect(duplicatesIn(facts)).toEqual([]);
    expect(lost).toEqual([]);
    expect(facts.fenced).toBe(0);
    // A write that was refused changed nothing.
    const refused = outcomes.filter((outcome) => outcome.status >= 400 && timesStored(facts, outcome) > 0);
    expect(refused).toEqual([]);
    expect(outcomes.filter(isStored).length).toBeGreaterThan(outcomes.length / 2);
  });

  it('shows each document once, in every process and in a graph that is made anew', async () => {
    const facts = await readLogFacts(fleet.eventStore);
    const total = prepared + outcomes.filter(isCreated).length - facts.deletions.size;
    for (const member of fleet.members) {
      const headers = { 'varve-min-position': String(facts.last) };
      const answer = await fetch(`${member.server().url}/api/notes?pagination[pageSize]=1`, {
        headers,
      });
      expect(await answer.json()).toMatchObject({ meta: { pagination: { total } } });
    }
    for (const member of fleet.members) await member.end('SIGTERM');
    const rebuilt = await rebuildGraph(fleet.eventStore);
    for (const { data } of fleet.members) expect(readGraph(data)).toEqual(rebuilt);
  });
});

type Document = { readonly key: string; readonly documentId: string };

/** Documents for the changes and removals of a round. */
async function prepare(fleet: TestFleet, round: number): Promise<readonly Document[]> {
  const keys = Array.from({ length: Math.ceil(WRITES / 5) * 2 }, (_, n) => `prepared-${round}-${n}`);
  const creations = keys.map((key): BurstWrite => ({ kind: 'create', key }));
  const answers = await sendBurst(fleet.members, creations).outcomes;
  return answers.map(({ write, status, documentId }) => {
    expect(status).toBe(201);
    return { key: write.key, documentId: String(documentId) };
  });
}

/** Of every five writes one is a change, one a removal and three are creations. */
function writesOf(round: number, documents: readonly Document[]): readonly BurstWrite[] {
  return Array.from({ length: WRITES }, (_, n): BurstWrite => {
    const kind = (['create', 'change', 'create', 'remove', 'create'] as const)[n % 5] as BurstWrite['kind'];
    if (kind === 'create') return { kind, key: `created-${round}-${n}` };
    const first = Math.floor(n / 5) * 2;
    return { kind, ...(documents[kind === 'change' ? first : first + 1] as Document) };
  });
}

function isStored({ status }: BurstOutcome): boolean {
  return status >= 200 && status < 300;
}

function isCreated(outcome: BurstOutcome): boolean {
  return isStored(outcome) && outcome.write.kind === 'create';
}

function timesStored(facts: LogFacts, { write }: BurstOutcome): number {
  if (write.kind === 'remove') return facts.deletions.get(write.documentId) ?? 0;
  return facts.edits.get(nameOf(write)) ?? 0;
}

/** What the log has more than once although it was sent once. */
function duplicatesIn({ edits, created, deletions }: LogFacts): readonly string[] {
  return [...edits, ...created, ...deletions].filter(([, times]) => times > 1).map(([name]) => name);
}
