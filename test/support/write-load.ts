import { countAnswers } from './count-answers.ts';

/** Writers that edit a small set of linked documents at the same time, until they are stopped or the server is gone. */
export type WriteLoad = {
  /** Returns the number of answered writes. */
  readonly answered: () => number;
  /** Resolves when `count` more writes were answered, or no writer is left. */
  written(count: number): Promise<void>;
  /** Ends the writers after their current requests. */
  stop(): Promise<void>;
};

type Ids = { readonly [collection: string]: string[] };

const COLLECTIONS = ['restaurants', 'chefs', 'tags', 'countries'] as const;
const MOST = 30;

/**
 * Creates the list of created documents. It is kept between loads, so that a later load edits documents of an earlier
 * one.
 */
export function createDocumentIds(): Ids {
  return Object.fromEntries(COLLECTIONS.map((name) => [name, []]));
}

export function startWriteLoad(url: string, ids: Ids, writers: number, seed: number): WriteLoad {
  const answers = countAnswers();
  let stopped = false;
  const running = Array.from({ length: writers }, async (_unused, writer) => {
    const random = createRandom(seed * 1000 + writer);
    while (!stopped && (await writeOnce(url, ids, random))) answers.add();
  });
  const ended = Promise.all(running).then(() => {});
  return {
    answered: answers.total,
    written: (count) => Promise.race([ended, answers.more(count)]),
    stop() {
      stopped = true;
      return ended;
    },
  };
}

type Random = (below: number) => number;

type Write = {
  readonly collection: string;
  readonly documentId: string | undefined;
  readonly removes: boolean;
};

function nextWrite(ids: Ids, random: Random): Write {
  const collection = COLLECTIONS[Math.min(random(6), 3)] ?? 'restaurants';
  const known = ids[collection] ?? [];
  const isNew = known.length < 3 || (known.length < MOST && random(4) === 0);
  const documentId = isNew ? undefined : pick(known, random);
  const removes = documentId !== undefined && random(12) === 0;
  if (removes) known.splice(known.indexOf(documentId), 1);
  return { collection, documentId, removes };
}

/** Sends a write. Resolves to false if the server is gone. */
async function writeOnce(url: string, ids: Ids, random: Random): Promise<boolean> {
  const write = nextWrite(ids, random);
  try {
    const answer = await send(url, write, ids, random);
    const text = await answer.text();
    if (answer.status === 503) return false;
    // Other writers delete documents: the target or the document itself may be gone by now.
    if (!answer.ok && ![400, 404, 409].includes(answer.status)) throw new Error(`${answer.status} ${text}`);
    if (answer.ok && write.documentId === undefined) noteCreated(ids, write.collection, text);
    return true;
  } catch (error) {
    // These errors mean that the connection broke.
    if (error instanceof TypeError || error instanceof SyntaxError) return false;
    throw error;
  }
}

function noteCreated(ids: Ids, collection: string, text: string): void {
  const { data: created } = JSON.parse(text) as { readonly data?: { readonly documentId: string } | null };
  if (created?.documentId !== undefined) ids[collection]?.push(created.documentId);
}

function send(url: string, write: Write, ids: Ids, random: Random): Promise<Response> {
  const { collection, documentId, removes } = write;
  const path = `${url}/api/${collection}${documentId === undefined ? '' : `/${documentId}`}`;
  if (removes) return fetch(path, { method: 'DELETE' });
  return fetch(`${path}?status=${random(3) === 0 ? 'draft' : 'published'}`, {
    method: documentId === undefined ? 'POST' : 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data: data(collection, ids, random) }),
  });
}

function data(collection: string, ids: Ids, random: Random): object {
  const name = `name ${random(1_000_000)}`;
  const some = (of: string) => (ids[of] ?? []).filter(() => random(4) === 0).slice(0, 4);
  switch (collection) {
    case 'restaurants':
      return {
        ...{
          key: name,
          name,
          stars: random(5),
          chef: pick(ids['chefs'] ?? [], random) ?? null,
          tags: some('tags'),
        },
        hours: [{ day: 'mon', note: name }],
      };
    case 'chefs':
      return { key: name, name, country: pick(ids['countries'] ?? [], random) ?? null };
    default:
      return { key: name, name };
  }
}

function pick<Item>(items: readonly Item[], random: Random): Item | undefined {
  return items[random(Math.max(1, items.length))];
}

/** Returns a generator of integers. The same seed gives the same numbers. */
function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
