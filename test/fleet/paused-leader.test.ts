import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { leaderOf, startFleet, type TestFleet } from '../support/fleet.ts';
import { type LogFacts, readGraph, readLogFacts, rebuildGraph } from '../support/log-facts.ts';
import { writeNoteTypes } from '../support/note-types.ts';
import { pauseMember } from '../support/pause-member.ts';
import { type BurstOutcome, type BurstWrite, nameOf, sendBurst } from '../support/write-burst.ts';

/**
 * Two `varve serve` on one log, or PAUSE_MEMBERS of them. The leader is paused while many writes are in flight, another process becomes
 * leader, and the paused one continues. PAUSE_ROUNDS=100 PAUSE_WRITES=2500 PAUSE_SECONDS=12 for a full run. A pause of more than 10
 * seconds is longer than every timeout of a write.
 */
/** Number of retries of the documents that were refused with 503 in a round. */
const PREPARING_TRIES = 5;
const MEMBERS = Number(process.env['PAUSE_MEMBERS'] ?? 2);
const ROUNDS = Number(process.env['PAUSE_ROUNDS'] ?? 1);
const WRITES = Number(process.env['PAUSE_WRITES'] ?? 300);
/** Part of the answer if the leader was lost after it got the write. */
const UNKNOWN = 'may have been stored';
const SECONDS = Number(process.env['PAUSE_SECONDS'] ?? 3);

describe(`a leader that is paused for ${SECONDS} s with ${WRITES} writes in flight, ${ROUNDS} times`, () => {
  const contentTypes = writeNoteTypes();
  let fleet: TestFleet;
  const outcomes: BurstOutcome[] = [];
  let takeovers = 0;
  beforeAll(async () => {
    fleet = await startFleet({ size: MEMBERS, contentTypes });
  });
  afterAll(async () => {
    await fleet?.dispose();
    rmSync(contentTypes, { recursive: true });
  });

  it('answers every write', { timeout: ROUNDS * (SECONDS * 1_000 + 60_000) + 60_000 }, async () => {
    for (let round = 1; round <= ROUNDS; round++) {
      const documents = await prepare(fleet, round);
      const leader = await fleet.leader();
      const { claims } = await readLogFacts(fleet.eventStore);
      const burst = sendBurst(fleet.members, writesOf(round, documents));
      // The pause begins somewhere in the burst: the paused process has stored some writes, and others wait in its sockets.
      await burst.answered(Math.floor((WRITES * ((round * 37) % 60)) / 100));
      await pauseMember(fleet, leader);
      await delay(SECONDS * 1_000);
      // A takeover may last longer than the pause on a busy machine.
      const others = fleet.members.filter((member) => member !== leader);
      if (takeovers === 0 && round === ROUNDS) await leaderOf(others);
      leader.server().signal('SIGCONT');
      const answered = await burst.outcomes;
      outcomes.push(...answered);
      expect(answered.filter(({ status }) => status === 0 || status === 500).slice(0, 3)).toEqual([]);
      const facts = await readLogFacts(fleet.eventStore);
      // The leader of now may be the paused process again, if the other one was silent on a busy machine.
      if (facts.claims > claims) takeovers++;
      const duplicates = duplicatesIn(facts);
      console.log(
        `round ${round}: ${answered.filter(isStored).length} of ${answered.length} writes stored, ${duplicates.length} written twice`,
        refusals(answered, fleet.members.indexOf(leader)),
      );
      // A process that lost the lease waits longer before it claims it again. A new process does not.
      await leader.end('SIGTERM');
      await leader.start();
    }
    expect(takeovers).toBeGreaterThan(0);
  });

  it('stores each acknowledged write once, no write twice, and nothing after a newer claim', async () => {
    const facts = await readLogFacts(fleet.eventStore);
    const lost = outcomes.filter((outcome) => isStored(outcome) && timesStored(facts, outcome) === 0);
    expect(duplicatesIn(facts).slice(0, 3)).toEqual([]);
    expect(lost.slice(0, 3)).toEqual([]);
    expect(facts.fenced).toBe(0);
    const refused = outcomes.filter(({ status, text }) => status >= 400 && !text.includes(UNKNOWN));
    expect(refused.filter((outcome) => timesStored(facts, outcome) > 0).slice(0, 3)).toEqual([]);
    expect(outcomes.filter(isStored).length).toBeGreaterThan(outcomes.length / 2);
  });

  it('shows each document once, in every process and in a rebuilt graph', async () => {
    const facts = await readLogFacts(fleet.eventStore);
    const created = [...facts.edits.keys()].filter((name) => name.endsWith(' create')).length;
    const total = created - facts.deletions.size;
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

/** Creates the documents for the changes and removals of a round. */
async function prepare(fleet: TestFleet, round: number): Promise<readonly Document[]> {
  const keys = Array.from({ length: Math.ceil(WRITES / 5) * 2 }, (_, n) => `prepared-${round}-${n}`);
  const documents = new Map<string, string>();
  // A leader may be silent for too long on a busy machine. Writes that are refused meanwhile are sent again.
  for (let tries = 0; documents.size < keys.length; tries++) {
    const missing = keys.filter((key) => !documents.has(key));
    const creations = missing.map((key): BurstWrite => ({ kind: 'create', key }));
    for (const { write, status, text, documentId } of await sendBurst(fleet.members, creations).outcomes) {
      const isRefused = status === 503 && !text.includes(UNKNOWN);
      if (!isRefused || tries === PREPARING_TRIES) expect(status, text).toBe(201);
      if (status === 201) documents.set(write.key, String(documentId));
    }
  }
  return keys.map((key) => ({ key, documentId: String(documents.get(key)) }));
}

/** Returns the writes of a round: of every five, three are creations, one is a change and one is a removal. */
function writesOf(round: number, documents: readonly Document[]): readonly BurstWrite[] {
  return Array.from({ length: WRITES }, (_, n): BurstWrite => {
    const kind = (['create', 'change', 'create', 'remove', 'create'] as const)[n % 5] as BurstWrite['kind'];
    if (kind === 'create') return { kind, key: `created-${round}-${n}` };
    const first = Math.floor(n / 5) * 2;
    return { kind, ...(documents[kind === 'change' ? first : first + 1] as Document) };
  });
}

/** Counts the refused writes by the process that was asked and by its answer. */
function refusals(answered: readonly BurstOutcome[], paused: number): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const [n, outcome] of answered.entries()) {
    if (isStored(outcome)) continue;
    const answer = `${n % MEMBERS === paused ? 'paused' : 'other'}: ${outcome.status} ${outcome.text}`;
    counts[answer] = (counts[answer] ?? 0) + 1;
  }
  return counts;
}

function isStored({ status }: BurstOutcome): boolean {
  return status >= 200 && status < 300;
}

function timesStored(facts: LogFacts, { write }: BurstOutcome): number {
  if (write.kind === 'remove') return facts.deletions.get(write.documentId) ?? 0;
  return facts.edits.get(nameOf(write)) ?? 0;
}

/** Returns the names of writes that were sent once and are in the log more than once. */
function duplicatesIn({ edits, created, deletions }: LogFacts): readonly string[] {
  return [...edits, ...created, ...deletions].filter(([, times]) => times > 1).map(([name]) => name);
}
