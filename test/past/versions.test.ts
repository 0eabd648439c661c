import { expect, it } from 'vitest';
import { type Ask, createAsk, createTokenOver } from '../support/access-client.ts';
import { type ChangingDocument, makeChangingHistory, type Written } from '../support/changing-documents.ts';
import { type ChangingType, isNotePrivate, noteIn, populateAll } from '../support/changing-types.ts';
import { createRandom } from '../support/naive-random.ts';
import { asOf, readWhole } from '../support/past-requests.ts';
import type { RunningServer } from '../support/server.ts';
import { count } from '../support/takes-minutes.ts';

/**
 * Versions of random documents over HTTP, whose content types changed meanwhile: each equals a read as of its moment, and a version that was
 * restored is what the document has, but for what the answer names.
 */
const DOCUMENTS = count(500, 16);
const ERAS = count(6, 3);
const MOMENTS = count(40, 2);
const SEED = Number(process.env['SEED'] ?? 4301);
const LOCALES = ['en', 'de'];
type Values = Readonly<Record<string, unknown>>;

/** Returns an entry without numeric ids, with the documentIds of linked documents alone. */
function plain(value: unknown, omit: readonly string[], isWhole = true): unknown {
  if (Array.isArray(value)) return value.map((each) => plain(each, omit, false));
  if (typeof value !== 'object' || value === null) return value;
  const { documentId } = value as Values;
  if (!isWhole && typeof documentId === 'string') return { documentId };
  const members = Object.entries(value).filter(([name]) => name !== 'id' && !omit.includes(name));
  return Object.fromEntries(members.map(([name, each]) => [name, plain(each, omit, false)]));
}

type Version = { readonly id: string; readonly locale: string | null };

async function versionsOf(ask: Ask, path: string): Promise<readonly Version[]> {
  const { status, body } = await ask(`${path}/versions?pagination[pageSize]=100`);
  return status === 200 ? body.data : [];
}

/** Compares a version with a read as of a moment before the next version. Returns whether there was an entry. */
async function compareAt(
  { server, token, ask, omit }: Caller,
  type: ChangingType,
  path: string,
  { version, moment, choice }: { readonly version: string; readonly moment: string; readonly choice: string },
): Promise<boolean> {
  const shown = await ask(`${path}/versions/${version}?${choice}`);
  const read = asOf(`${path}?${choice}&${populateAll(type)}`, moment);
  const past = await readWhole(server.url, read, { authorization: `Bearer ${token}` });
  const where = `SEED=${SEED} ${path}/versions/${version}?${choice} at ${moment}`;
  expect(shown.status, `${where} ${JSON.stringify(shown.body)}`).toBe(200);
  expect([200, 404], `${where} ${past.body}`).toContain(past.status);
  const entry = past.status === 404 ? null : JSON.parse(past.body).data;
  expect(plain(shown.body.data, omit), where).toEqual(plain(entry, omit));
  return entry !== null;
}

/** `omit`: members of entries that are not compared. */
type Caller = {
  readonly server: RunningServer;
  readonly token: string;
  readonly ask: Ask;
  readonly hasDrafts: boolean;
  readonly omit: readonly string[];
};

/** Returns the rows of a document that a caller may ask for. */
function choicesOf({ draftAndPublish, localized }: ChangingType, hasDrafts: boolean): readonly string[] {
  const statuses = hasDrafts && draftAndPublish ? ['status=draft', 'status=published'] : ['status=published'];
  return statuses.flatMap((status) =>
    localized ? LOCALES.map((locale) => `${status}&locale=${locale}`) : [status],
  );
}

type Compared = { entries: number; absent: number };

/** Compares some documents as of one moment, for a caller. */
async function compareAll(
  caller: Caller,
  moment: string,
  asked: readonly Asked[],
  sum: Compared,
): Promise<void> {
  for (const { path, type } of asked) {
    const versions = await versionsOf(caller.ask, path);
    const version = versions.find(({ id }) => BigInt(id) <= BigInt(moment))?.id;
    if (version === undefined) continue;
    for (const choice of choicesOf(type, caller.hasDrafts)) {
      const isThere = await compareAt(caller, type, path, { version, moment, choice });
      sum[isThere ? 'entries' : 'absent']++;
    }
  }
}

type Asked = { readonly path: string; readonly type: ChangingType };

it(`shows ${DOCUMENTS} documents as reads of the past do, and restores them`, {
  timeout: 3_600_000,
}, async () => {
  process.stdout.write(`Versions of a random history: SEED=${SEED}\n`);
  const random = createRandom(SEED);
  const { server, types, documents, tags } = await makeChangingHistory(random, {
    documents: DOCUMENTS,
    eras: ERAS,
  });
  const typeOf = ({ type: name }: ChangingDocument) =>
    types.find((type) => type.name === name) as ChangingType;
  const full = await createTokenOver(createAsk(server.url), { name: 'full', type: 'full-access' });
  const askAll = createAsk(server.url, full);
  const site = await createTokenOver(askAll, { name: 'site', type: 'read-only', history: true });
  const callers: readonly Caller[] = [
    { server, token: full, ask: askAll, hasDrafts: true, omit: [] },
    // This caller sees no version that changed only private attributes, and with them the time of the entry.
    { server, token: site, ask: createAsk(server.url, site), hasDrafts: false, omit: ['updatedAt'] },
  ];
  const versions = new Map<string, readonly Version[]>();
  for (const { path } of documents) versions.set(path, await versionsOf(askAll, path));
  const moments = random.sample([...versions.values()].flat(), MOMENTS).map(({ id }) => id);
  const sum: Compared = { entries: 0, absent: 0 };
  for (const [at, moment] of moments.entries()) {
    const isAsked = ({ path }: ChangingDocument, i: number) =>
      i % moments.length === at || versions.get(path)?.some(({ id }) => id === moment) === true;
    const asked = documents
      .filter(isAsked)
      .map((document) => ({ path: document.path, type: typeOf(document) }));
    for (const caller of callers) await compareAll(caller, moment, asked, sum);
  }
  expect(sum.entries, JSON.stringify(sum)).toBeGreaterThan(DOCUMENTS / 2);

  // Links to documents that are gone are named as missing.
  for (const tag of tags.slice(0, 3)) await askAll(`/api/tags/${tag}`, { method: 'DELETE' });
  const found = { restored: 0, missing: 0, ignored: 0, absent: 0 };
  for (const document of documents) {
    const own = versions.get(document.path) ?? [];
    // A document of locales alone that its type does not have any more.
    if (own.length === 0) continue;
    const version = random.pick(own);
    const end = await restoreAndCompare(askAll, document, typeOf(document), version);
    found[end.kind]++;
    found.missing += end.missing;
    found.ignored += end.ignored;
  }
  process.stdout.write(`${JSON.stringify({ compared: sum, found })}\n`);
  expect(found.restored, JSON.stringify(found)).toBeGreaterThan(DOCUMENTS / 3);
  expect(found.missing).toBeGreaterThan(0);
  expect(found.ignored).toBeGreaterThan(0);
});

/** Restores a version, and compares it with the entry as it then is. */
async function restoreAndCompare(
  ask: Ask,
  { path, written }: ChangingDocument,
  type: ChangingType,
  { id, locale }: Version,
) {
  const where = `SEED=${SEED} ${path} version ${id}`;
  const choice = type.localized ? `&locale=${locale}` : '';
  const before = await ask(`${path}/versions/${id}?status=draft${choice}`);
  const body = { data: { version: id } };
  const restored = await ask(`${path}/actions/restore?${choice.slice(1)}`, { method: 'POST', body });
  if (before.body.data === null) {
    expect(restored.body.error, where).toMatchObject({
      message: expect.stringContaining('no entry to restore'),
    });
    return { kind: 'absent', missing: 0, ignored: 0 } as const;
  }
  expect(restored.status, `${where} ${JSON.stringify(restored.body)}`).toBe(200);
  const { missing, ignored } = restored.body.meta.restored as Restored;
  const diff = await ask(`${path}/versions/${id}/diff?status=draft${choice}`);
  // Only links to documents that are gone differ, and they are named.
  const lost = (
    diff.body.data.changed as readonly { path: string; from?: unknown; added?: unknown; removed?: unknown }[]
  ).flatMap(({ path: at, added, removed, from }) =>
    [removed ?? from].flat().map((value) => ({ at, value, added })),
  );
  const named = new Set(missing.map(({ path: at, documentId }) => `${at} ${documentId}`));
  for (const { at, value, added } of lost) {
    const { documentId } = ((value as Values)?.['value'] ?? value) as Values;
    expect([...named], `${where} ${JSON.stringify(diff.body.data)}`).toContain(`${at} ${documentId}`);
    expect(added ?? [], where).toEqual([]);
  }
  const then = written.get(id);
  // A draft of then is not what a type without drafts, now or in between, has.
  if (then !== undefined && (!then.type.draftAndPublish || type.draftsSince <= then.type.era))
    expect(ignored, `${where} ${JSON.stringify([then.data, before.body.data])}`).toEqual(
      lostOf(then, type, before.body.data),
    );
  return { kind: 'restored', missing: missing.length, ignored: ignored.length } as const;
}

type Restored = {
  readonly ignored: readonly string[];
  readonly missing: readonly { readonly path: string; readonly documentId: string }[];
};

/** Returns the attributes of which the answer of then has more than a version as it is shown now, under any name. */
function lostOf({ type: then, data }: Written, now: ChangingType, shown: Values): readonly string[] {
  const lost = then.attributes.flatMap(({ key, name, options, private: isPrivate }) => {
    const later = now.attributes.find((attribute) => attribute.key === key);
    if (isPrivate || later?.private === true) return [];
    const value = later && shown[later.name];
    if (sizeOf(options, data[name]) > sizeOf(later?.options ?? {}, value)) return [name];
    const [before, after] = [noteIn(then), noteIn(now)];
    if (before === undefined || (after === undefined && isNotePrivate(now))) return [];
    return countOf(before, data[name]) > countOf(after, value) ? [`${name}.${before}`] : [];
  });
  return lost.sort();
}

function sizeOf({ type }: Values, value: unknown): number {
  if (value === null || value === undefined) return 0;
  return Array.isArray(value) && type !== 'json' ? value.length : 1;
}

/** Counts the components of a value that have an attribute. */
function countOf(name: string | undefined, value: unknown): number {
  const parts = [value ?? []].flat() as unknown as readonly Values[];
  return name === undefined ? 0 : parts.filter((part) => (part?.[name] ?? null) !== null).length;
}
