import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { identifiersOf, wordsOf } from '../support/identifiers.ts';
import { PRODUCT } from '../support/rooms.ts';

/** A word of identifiers, its one meaning, and rooms in which that meaning does not occur. */
type Meaning = {
  readonly word: string;
  readonly forms: RegExp;
  readonly means: string;
  readonly say: string;
  /** Folders and files without the word: an identifier there would have it in another meaning. Add rooms as they become clean. */
  readonly notIn: readonly string[];
};

const MEANINGS: readonly Meaning[] = [
  {
    word: 'space',
    forms: /^spaces?$/,
    means: 'a namespace of streams and indices',
    say: 'disk; row set; whitespace; buffer',
    notIn: [
      'shared/read-index/elasticsearch/documents/unit-grams.ts',
      'shared/search',
      'shared/sqlite',
      'shared/turns',
      'shared/schema',
      'shared/free-disk.ts',
      'projections/graph/content-graph.ts',
      'projections/graph/convert',
      'projections/graph/projector.ts',
      'projections/graph/store/log-checkpoint.ts',
      'projections/index-writer',
      'services/instant-search',
      'services/operating',
      'services/process/disk-watch.ts',
    ],
  },
  {
    word: 'live',
    forms: /^live$/,
    means: 'the generation that answers; a live list is the name of a feature',
    say: 'unversioned (a row without drafts); present (a row that exists)',
    notIn: ['projections/graph', 'services/command', 'services/query', 'shared/document', 'shared/search'],
  },
  {
    word: 'follow',
    forms: /^follow(s|ed|er|ers|ing)?$/,
    means: 'to copy a Strapi',
    say: 'subscribe, apply (the log); traverse (a relation); be the standby',
    notIn: [
      'shared/event-store',
      'shared/document',
      'shared/search',
      'shared/schema',
      'shared/sqlite',
      'projections/graph',
      'projections/generations',
      'projections/verification',
      'services/command',
      'services/rebuild',
      'services/transfer',
    ],
  },
  {
    word: 'hold',
    forms: /^(hold|holds|held|holder|holders|holding)$/,
    means: 'to have a lock, a lease or a socket',
    say: 'wait (requests); cache (values); find, index (rows)',
    notIn: [
      'projections/graph/apply',
      'projections/graph/convert',
      'projections/graph/store',
      'projections/index-writer',
      'shared/schema',
      'shared/turns',
      'services/query',
      'services/command',
      'services/http/sockets',
      'services/http/api',
    ],
  },
  {
    word: 'place',
    forms: /^(place|places|placed|placement|misplaced)$/,
    means: 'a path in a document, or a slot in a list',
    say: 'position, checkpoint, cursor (in the log); address, location, folder',
    notIn: [
      'shared/event-store',
      'shared/asset-store',
      'shared/schema',
      'shared/sqlite',
      'projections/generations',
      'projections/graph/content-graph.ts',
      'projections/graph/convert',
      'projections/index-writer',
      'services/stores',
      'services/read-side',
      'services/supervisor',
      'services/project',
      'services/operator',
      'services/strapi',
      'services/fleet',
      'services/elasticsearch',
      'services/cli/output',
      'services/cli/settings',
    ],
  },
];

const root = path.resolve(import.meta.dirname, '../..');
const names = globSync(
  PRODUCT.map((folder) => `${folder}/**/*.ts`),
  { cwd: root },
)
  .sort()
  .flatMap((file) =>
    [...identifiersOf(readFileSync(path.join(root, file), 'utf8'))].map((name) => ({ file, name })),
  );

describe('a word of identifiers has one meaning', () => {
  it.for(MEANINGS)('$word is $means', ({ forms, say, notIn }) => {
    const found = otherMeanings(names, forms, notIn);
    expect(found, `Say ${say}.`).toEqual([]);
    expect(
      notIn.filter((room) => !names.some(({ file }) => isIn(room, file))),
      'rooms that are no more',
    ).toEqual([]);
  });
});

it('finds a word inside of a name, in the named rooms only', () => {
  const found = [
    ...identifiersOf('type RowSpace = { spaces: 1 }; const SPACE_LEFT = (backspace) => space.of;'),
  ];
  const inRoom = (file: string) =>
    otherMeanings(
      found.map((name) => ({ file, name })),
      /^spaces?$/,
      ['shared/a', 'shared/b.ts'],
    );
  expect(inRoom('shared/a/b/c.ts')).toEqual(
    ['RowSpace', 'spaces', 'SPACE_LEFT', 'space'].map((name) => `shared/a/b/c.ts: ${name}`),
  );
  expect(inRoom('shared/b.ts')).toHaveLength(4);
  expect(inRoom('shared/ab/c.ts')).toEqual([]);
});

function otherMeanings(
  all: readonly { readonly file: string; readonly name: string }[],
  forms: RegExp,
  rooms: readonly string[],
): readonly string[] {
  return all
    .filter(({ file }) => rooms.some((room) => isIn(room, file)))
    .filter(({ name }) => wordsOf(name).some((word) => forms.test(word)))
    .map(({ file, name }) => `${file}: ${name}`);
}

function isIn(room: string, file: string): boolean {
  return file === room || file.startsWith(`${room}/`);
}
