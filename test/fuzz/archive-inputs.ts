import { createCipheriv, scryptSync } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import type { Random } from '../support/naive-random.ts';
import {
  ARCHIVE_KEY,
  makeProject,
  ODDITIES,
  type ProjectContent,
  STRAPI_VERSIONS,
} from '../support/odd-archives.ts';
import { mutateBytes, mutateJson, mutateText } from './mutate.ts';

/** Archives of Strapi 4 and 5 with odd members, rows, links and bytes. */

/** A member of an archive. */
export type Member = readonly [name: string, bytes: Buffer];

export type ArchiveInput = {
  readonly kind: 'archive';
  /** Members of a folder, or one file with the name that `strapi export` gives. */
  readonly members: readonly Member[];
  readonly isFolder: boolean;
  /** Rows of the archive; undefined if its text was damaged. */
  readonly rows: number | undefined;
};

type Line = Record<string, unknown>;

const IDS: readonly unknown[] = [
  { toString: 1 },
  null,
  0,
  -1,
  1.5,
  '1',
  2 ** 53,
  1e300,
  true,
  '__proto__',
  [],
  {},
];
const TYPES = [
  'api::tag.tag',
  'api::article.article',
  'api::gone.gone',
  'box.one',
  'plugin::upload.file',
  'plugin::users-permissions.user',
  'plugin::users-permissions.role',
  'admin::user',
  '__proto__',
  'constructor',
  '',
];
const NAMES = [
  'title',
  'boxes',
  'zone',
  'box',
  'visits',
  'cover',
  'tags',
  'locale',
  'publishedAt',
  'createdAt',
  'updatedAt',
  'documentId',
  'id',
  'name',
  'url',
  'formats',
  'localizations',
  'email',
  'username',
  '__proto__',
  'constructor',
];
const VALUES: readonly unknown[] = [
  { toString: 1, valueOf: null },
  [{ toString: null }],
  { length: 3 },
  null,
  '',
  'x',
  'fr',
  'en',
  'klingon-𝄞',
  '2026-13-45',
  '1970-01-01T00:00:00.000Z',
  1e15,
  -1,
  9e99,
  '9223372036854776000',
  true,
  [],
  {},
  [null],
  [[]],
  [{ id: 1 }],
  [
    { id: 1, __component: 'box.one' },
    { id: 1, __component: 'box.one' },
  ],
  { __component: 'box.gone' },
  '\u0000',
  '\ud800',
  'x'.repeat(2_000),
];

/** Makes an archive. `random` alone decides on it, except for the bytes of its files. */
export async function makeArchiveInput(random: Random): Promise<ArchiveInput> {
  const { content } = makeProject(random.pick(STRAPI_VERSIONS), random.pick(ODDITIES));
  const entities = content.entities.map((entity) => ({ ...entity }) as Line);
  for (let changes = random.between(0, 3); changes > 0; changes--) changeRow(entities, random);
  const links = content.links.map((link) => link as Line);
  for (let changes = random.between(0, 2); changes > 0; changes--) changeLink(links, random);
  const isDamaged = random.chance(0.25);
  const members = membersOf({ ...content, links }, entities, random);
  if (isDamaged) damage(members, random);
  const rows = isDamaged ? undefined : entities.length;
  if (random.chance(0.1)) return { kind: 'archive', members: members.filter(isFile), isFolder: true, rows };
  return packed(members, rows, random);
}

function changeRow(entities: Line[], random: Random): void {
  const at = random.between(0, entities.length - 1);
  const row = entities[at] as Line;
  const data = row['data'] as Line;
  switch (random.between(0, 6)) {
    case 0:
      entities.push({ ...row, ...(random.chance(0.5) ? { id: 100 + entities.length } : {}) });
      break;
    case 1:
      entities[at] = {
        ...row,
        data: { ...data, documentId: random.pick([...IDS, 'a', 'x'.repeat(300), '\ud800']) },
      };
      break;
    case 2:
      entities[at] = { ...row, type: random.pick(TYPES) };
      break;
    case 3:
      entities[at] = { ...row, data: { ...data, [random.pick(NAMES)]: deepValue(random) } };
      break;
    case 4:
      entities[at] = { ...row, data: mutateJson(data, random) as Line };
      if (!isObject((entities[at] as Line)['data'])) entities[at] = row;
      break;
    default:
      entities[at] = { ...row, data: { ...data, [random.pick(NAMES)]: random.pick(VALUES) } };
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function deepValue(random: Random): unknown {
  const levels = random.pick([50, 100, 101, 3_000]);
  const [open, close] = random.chance(0.5) ? ['[', ']'] : ['{"a":', '}'];
  return JSON.parse(`${open.repeat(levels)}1${close.repeat(levels)}`);
}

function changeLink(links: Line[], random: Random): void {
  const at = random.between(0, links.length - 1);
  const link = links[at] as Line;
  const side = random.pick(['left', 'right']);
  const end = {
    ...(link[side] as Line),
    [random.pick(['ref', 'type', 'field', 'pos'])]: random.pick([...IDS, ...TYPES, ...NAMES]),
  };
  const changed = random.chance(0.8)
    ? { ...link, [side]: end }
    : { ...link, kind: random.pick(['relation.morph', 'x', 7, null]) };
  if (random.chance(0.3)) links.push(changed);
  else links[at] = changed;
}

/** Returns the members in the order of `strapi export`. */
function membersOf(content: ProjectContent, entities: readonly Line[], random: Random): Member[] {
  const end = random.pick(['\n', '\n', '\n', '\r\n', '\n\n']);
  const lines = (values: readonly object[]) =>
    Buffer.from(values.map((value) => JSON.stringify(value) + end).join(''));
  const version = random.pick<unknown>(['4.25.1', '5.54.0', 5, null, '']);
  const settings = random.chance(0.1)
    ? [mutateJson(content.configuration[0], random) as object]
    : content.configuration;
  const uploads = Object.entries(content.uploads).map(
    ([name, bytes]): Member => [`assets/uploads/${name}`, bytes.subarray(0, 100)],
  );
  return [
    ['schemas/schemas_00001.jsonl', lines(content.schemas)],
    ['entities/entities_00001.jsonl', lines(entities)],
    ...uploads,
    ['links/links_00001.jsonl', lines(content.links)],
    ['configuration/configuration_00001.jsonl', lines(settings)],
    ['metadata.json', Buffer.from(JSON.stringify({ strapi: { version } }))],
  ];
}

const ODD_NAMES = [
  '../entities/x.jsonl',
  '/entities/x.jsonl',
  'entities/',
  'entities',
  'entities/a/b.jsonl',
  'assets/uploads/../../x',
  'assets/metadata/x.json',
  'assets/uploads/.',
  'x',
  'ü/entities/1.jsonl',
  'configuration/x'.padEnd(150, 'y'),
];

/** Damages the text of members, or their names and number. */
function damage(members: Member[], random: Random): void {
  const at = random.between(0, members.length - 1);
  const [name, bytes] = members[at] as Member;
  switch (random.between(0, 6)) {
    case 0:
      members.splice(at, 1);
      break;
    case 1:
      members.push([name, bytes]);
      break;
    case 2:
      members[at] = [random.pick(ODD_NAMES), bytes];
      break;
    case 3:
      members[at] = [name, Buffer.from(mutateText(bytes.toString(), random))];
      break;
    case 4:
      members[at] = [name, Buffer.from(mutateBytes(bytes, random))];
      break;
    case 5:
      members[at] = [
        name,
        Buffer.from(
          random.pick(['', 'null', '[]', '7\n', '{}', '\ufeff{}\n', '{"type":7}', '['.repeat(4_000)]),
        ),
      ];
      break;
    default:
      members.reverse();
  }
}

/** Returns whether a folder can have a member of this name below it. */
function isFile([name]: Member): boolean {
  return !name.includes('..') && !name.startsWith('/') && !/(^|\/)\.?$/.test(name) && name !== 'entities';
}

async function packed(
  members: readonly Member[],
  rows: number | undefined,
  random: Random,
): Promise<ArchiveInput> {
  const tar = pack();
  for (const [name, bytes] of members) tar.entry({ name }, bytes);
  tar.finalize();
  let bytes = Buffer.concat(await Array.fromAsync(tar as AsyncIterable<Buffer>));
  const isZipped = random.chance(0.5);
  if (isZipped) bytes = gzipSync(bytes, { level: 1 });
  const isEncrypted = random.chance(0.02);
  if (isEncrypted) {
    const cipher = createCipheriv('aes-128-ecb', scryptSync(ARCHIVE_KEY, '', 16), null);
    bytes = Buffer.concat([cipher.update(bytes), cipher.final()]);
  }
  const name = `a.tar${isZipped ? '.gz' : ''}${isEncrypted ? '.enc' : ''}`;
  if (random.chance(0.85)) return { kind: 'archive', members: [[name, bytes]], isFolder: false, rows };
  const cut = bytes.subarray(0, random.between(0, bytes.length));
  const harmed = random.chance(0.5) ? cut : Buffer.from(mutateBytes(bytes, random));
  const damaged = [[random.chance(0.9) ? name : 'a.tar.gz', harmed] as const];
  return { kind: 'archive', members: damaged, isFolder: false, rows: undefined };
}
