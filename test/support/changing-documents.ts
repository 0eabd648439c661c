import { expect } from 'vitest';
import { type Ask, createAsk } from './access-client.ts';
import {
  type ChangingType,
  firstTypes,
  nextTypes,
  populateAll,
  randomValues,
  writeChangingTypes,
} from './changing-types.ts';
import { dataForTest } from './data-for-test.ts';
import type { Random } from './naive-random.ts';
import type { RunningServer } from './server.ts';
import { startForTest } from './start-for-test.ts';

const PLURALS: Readonly<Record<string, string>> = {
  page: 'pages',
  place: 'places',
  story: 'stories',
  home: 'home',
};

type Values = Readonly<Record<string, unknown>>;
/** Answer to a write of one event, and the content type at that time. */
export type Written = {
  readonly type: ChangingType;
  readonly data: Values;
  readonly locale: string | undefined;
};
export type ChangingDocument = {
  readonly path: string;
  readonly type: string;
  /** By position. */
  readonly written: Map<string, Written>;
};
/** A random history, and the server of its last era. */
type ChangingHistory = {
  readonly server: RunningServer;
  readonly types: readonly ChangingType[];
  readonly documents: readonly ChangingDocument[];
  readonly tags: readonly string[];
};

/** Starts a server, and accepts what its content types lose. */
async function startAnyway(data: string, contentTypes: string): Promise<RunningServer> {
  const start = (more: readonly string[]) =>
    startForTest({ data, contentTypes, arguments: ['--past-worlds', '2', ...more] });
  return start([]).catch((error: Error) => {
    const losses = [...error.message.matchAll(/--accept-loss (\S+)/g)].flatMap(([, name = '']) => [
      '--accept-loss',
      name,
    ]);
    if (losses.length === 0) throw error;
    return start(losses);
  });
}

/** Makes a random history in several eras, each with content types of its own, and starts the server of the last one. */
export async function makeChangingHistory(
  random: Random,
  { documents: most, eras }: { readonly documents: number; readonly eras: number },
): Promise<ChangingHistory> {
  const [data, folder] = [dataForTest(), dataForTest()];
  let types = firstTypes(random);
  const tags: string[] = [];
  const documents: ChangingDocument[] = [];
  for (let era = 0; ; era++) {
    if (era > 0) types = nextTypes(types, era, random);
    writeChangingTypes(folder, types, era);
    const server = await startAnyway(data, folder);
    if (era === eras) return { server, types, documents, tags };
    const ask = createAsk(server.url);
    while (tags.length < 8)
      tags.push(
        (await ask('/api/tags', { method: 'POST', body: { data: { name: 'tag' } } })).body.data.documentId,
      );
    const write = createWriter(ask, { types, tags, random });
    while (documents.length < most) documents.push(await write.create(documents.length === 0));
    for (let i = 0; i < most; i++) await write.change(random.pick(documents));
    await server.stop();
  }
}

type Writing = {
  readonly types: readonly ChangingType[];
  readonly tags: readonly string[];
  readonly random: Random;
};

type Sent = {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the entries have attributes of every era.
  readonly body: any;
  /** Position of the write, if it was of one event. */
  readonly position: string | undefined;
  readonly locale: string | undefined;
};

/** Sends a write, with random values if it has a body. */
async function send(
  ask: Ask,
  { tags, random }: Pick<Writing, 'tags' | 'random'>,
  type: ChangingType,
  { method, path, hasBody }: { readonly method: string; readonly path: string; readonly hasBody: boolean },
): Promise<Sent> {
  const locale = type.localized && random.chance(0.4) ? 'de' : undefined;
  const isDraft = hasBody && type.draftAndPublish && random.chance(0.8);
  const parameters = [
    ...(locale === undefined ? [] : [`locale=${locale}`]),
    ...(hasBody ? [populateAll(type)] : []),
    ...(isDraft ? ['status=draft'] : []),
  ];
  const body = hasBody ? { body: { data: randomValues(type, tags, random) } } : {};
  const { status, headers, body: got } = await ask(`${path}?${parameters.join('&')}`, { method, ...body });
  expect(status, `${method} ${path} ${JSON.stringify([body, got])}`).toBeLessThan(500);
  const isOne = hasBody && status < 300 && (isDraft || !type.draftAndPublish);
  const position = isOne ? String(headers.get('varve-position')) : undefined;
  return { status, body: got, position, locale };
}

/** Creates random writes. Those that are refused, for example because nothing is published, change nothing. */
function createWriter(ask: Ask, { types, tags, random }: Writing) {
  const typeOf = (name: string) => types.find((type) => type.name === name) as ChangingType;
  const write = async (document: ChangingDocument, method: string, path: string) => {
    const type = typeOf(document.type);
    const sent = await send(ask, { tags, random }, type, { method, path, hasBody: true });
    const { position, body, locale } = sent;
    if (position !== undefined) document.written.set(position, { type, data: body.data, locale });
    return sent;
  };
  const act = (document: ChangingDocument, method: string, path: string) =>
    send(ask, { tags, random }, typeOf(document.type), { method, path, hasBody: false });
  return {
    async create(isSingle: boolean): Promise<ChangingDocument> {
      const type = isSingle ? 'home' : random.pick(['page', 'place', 'story']);
      const path = `/api/${PLURALS[type]}`;
      const document = { type, path, written: new Map() };
      const { status, body } = await write(document, isSingle ? 'PUT' : 'POST', path);
      expect(status, JSON.stringify(body)).toBeLessThan(300);
      return isSingle ? document : { ...document, path: `${path}/${body.data.documentId}` };
    },
    async change(document: ChangingDocument): Promise<void> {
      const { path, type } = document;
      const dice = random.next();
      const action = random.pick(['publish', 'unpublish', 'discard-draft']);
      if (dice < 0.75 || type === 'home') await write(document, 'PUT', path);
      else if (dice < 0.8) await act(document, 'DELETE', path);
      else await act(document, 'POST', `${path}/actions/${action}`);
    },
  };
}
