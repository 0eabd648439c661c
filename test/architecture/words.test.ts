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
  /** Folders and files whose identifiers must not contain the word, since it would have another meaning there. Add clean rooms. */
  readonly notIn: readonly string[];
};

const MEANINGS: readonly Meaning[] = [
  {
    word: 'space',
    forms: /^spaces?$/,
    means: 'a namespace of streams and indices',
    say: 'disk; row set; whitespace; buffer',
    notIn: [
      'projections',
      'services/delivery',
      'services/http/api',
      'services/http/requests',
      'services/http/streams',
      'services/instant-search',
      'services/login',
      'services/operating',
      'services/process/disk-watch.ts',
      'services/purge',
      'services/query',
      'services/read-side',
      'services/rebuild',
      'services/supervisor',
      'shared/free-disk.ts',
      'shared/read-index/elasticsearch/documents',
      'shared/read-index/elasticsearch/plan',
      'shared/read-index/elasticsearch/read',
      'shared/read-index/elasticsearch/wire',
      'shared/read-index/embedded',
      'shared/schema',
      'shared/search',
      'shared/sqlite',
      'shared/turns',
    ],
  },
  {
    word: 'live',
    forms: /^live$/,
    means: 'the generation that answers; a live list is the name of a feature',
    say: 'unversioned (a row without drafts); present (a row that exists)',
    notIn: [
      'projections/graph',
      'projections/index-writer',
      'projections/verification',
      'services/command',
      'services/delivery',
      'services/fleet',
      'services/outbox',
      'services/purge',
      'services/query',
      'services/transfer',
      'services/webhooks',
      'shared/document',
      'shared/event-store',
      'shared/read-index/elasticsearch/documents',
      'shared/read-index/elasticsearch/layout',
      'shared/read-index/elasticsearch/plan',
      'shared/read-index/elasticsearch/wire',
      'shared/read-index/embedded',
      'shared/schema',
      'shared/search',
      'shared/sqlite',
      'shared/turns',
    ],
  },
  {
    word: 'follow',
    forms: /^follow(s|ed|er|ers|ing)?$/,
    means: 'to copy a Strapi',
    say: 'subscribe, apply (the log); traverse (a relation); be the standby',
    notIn: [
      'projections',
      'services/assets',
      'services/backup',
      'services/changes',
      'services/command',
      'services/content-types',
      'services/delivery',
      'services/elasticsearch',
      'services/fleet',
      'services/http/answers',
      'services/http/api',
      'services/http/forwarding',
      'services/http/pages',
      'services/http/requests',
      'services/http/sockets',
      'services/http/streams',
      'services/instant-search',
      'services/login',
      'services/openapi',
      'services/purge',
      'services/query',
      'services/read-side',
      'services/rebuild',
      'services/stores',
      'services/strapi',
      'services/transfer',
      'services/webhooks',
      'shared',
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
      'projections/graph/stale',
      'projections/graph/store',
      'projections/index-writer',
      'projections/verification',
      'services/changes',
      'services/command',
      'services/elasticsearch',
      'services/follow',
      'services/http',
      'services/query',
      'services/read-side',
      'services/rebuild',
      'services/strapi',
      'shared/asset-store',
      'shared/document',
      'shared/event-store',
      'shared/read-index',
      'shared/schema',
      'shared/turns',
    ],
  },
  {
    word: 'place',
    forms: /^(place|places|placed|placement|misplaced)$/,
    means: 'a path in a document, or a slot in a list',
    say: 'position, checkpoint, cursor (in the log); address, location, folder',
    notIn: [
      'projections/generations',
      'projections/graph/content-graph.ts',
      'projections/graph/convert',
      'projections/graph/stale',
      'projections/index-writer',
      'projections/verification',
      'services/access',
      'services/cli/output',
      'services/cli/settings',
      'services/content-types',
      'services/elasticsearch',
      'services/fleet',
      'services/follow',
      'services/http',
      'services/instant-search',
      'services/openapi',
      'services/operating',
      'services/operator',
      'services/outbox',
      'services/project',
      'services/purge',
      'services/read-side',
      'services/rebuild',
      'services/stores',
      'services/strapi',
      'services/supervisor',
      'services/webhooks',
      'shared/access',
      'shared/asset-store',
      'shared/event-store',
      'shared/fleet',
      'shared/schema',
      'shared/sqlite',
      'shared/turns',
      'shared/webhooks',
    ],
  },
  {
    word: 'account',
    forms: /^account(s|ed|ing)?$/,
    means: 'what a user signs in to',
    say: 'stale documents, record',
    notIn: ['projections', 'services/elasticsearch', 'services/rebuild', 'shared'],
  },
  {
    word: 'level',
    forms: /^levels?$/,
    means: 'a depth, or the level of a log line',
    say: 'caught up',
    notIn: [
      'projections',
      'services/content-types',
      'services/elasticsearch',
      'services/fleet',
      'services/operating',
      'services/process',
      'services/read-side',
      'shared/event-store',
      'shared/fleet',
    ],
  },
  {
    word: 'term',
    forms: /^terms?$/,
    means: 'the time in which one process is the leader; in a search, what a query looks for',
    say: 'condition; word; name',
    notIn: [
      'projections/generations',
      'projections/graph',
      'projections/index-writer',
      'projections/verification',
      'services/access',
      'services/assets',
      'services/backup',
      'services/command',
      'services/content-types',
      'services/login',
      'services/openapi',
      'services/operating',
      'services/project',
      'services/rebuild',
      'services/strapi',
      'services/supervisor',
      'services/transfer',
      'shared/access',
      'shared/asset-store',
      'shared/document',
      'shared/event-store',
      'shared/events',
      'shared/schema',
      'shared/sqlite',
      'shared/webhooks',
    ],
  },
  {
    word: 'answer',
    forms: /^answer(s|ed|ing)?$/,
    means: 'what Varve sends for a request of a client',
    say: 'reply, outcome (of a receiver or a service)',
    notIn: [
      'projections/generations',
      'projections/graph',
      'projections/index-writer',
      'projections/verification',
      'services/access',
      'services/backup',
      'services/content-types',
      'services/outbox',
      'services/project',
      'services/purge',
      'services/read-side',
      'services/strapi',
      'services/transfer',
      'shared/access',
      'shared/asset-store',
      'shared/document',
      'shared/events',
      'shared/fleet',
      'shared/search',
      'shared/webhooks',
    ],
  },
  {
    word: 'reader',
    forms: /^readers?$/,
    means: 'a part or a worker that only reads',
    say: 'client, caller (who gets an answer); consumer (of the log)',
    notIn: [
      'projections/generations',
      'projections/index-writer',
      'projections/verification',
      'services/backup',
      'services/content-types',
      'services/delivery',
      'services/instant-search',
      'services/openapi',
      'services/outbox',
      'services/project',
      'services/purge',
      'services/query',
      'services/read-side',
      'services/rebuild',
      'services/stores',
      'services/transfer',
      'services/webhooks',
      'shared/access',
      'shared/asset-store',
      'shared/events',
      'shared/fleet',
      'shared/schema',
      'shared/sqlite',
      'shared/turns',
      'shared/webhooks',
    ],
  },
  {
    word: 'note',
    forms: /^(note|notes|noted|noting)$/,
    means: 'to write down for a later step',
    say: 'hint, comment (for people); record',
    notIn: [
      'projections/verification',
      'services/access',
      'services/assets',
      'services/backup',
      'services/command',
      'services/content-types',
      'services/login',
      'services/openapi',
      'services/outbox',
      'services/project',
      'services/query',
      'services/stores',
      'services/supervisor',
      'services/transfer',
      'services/webhooks',
      'shared/access',
      'shared/document',
      'shared/event-store',
      'shared/events',
      'shared/fleet',
      'shared/schema',
      'shared/sqlite',
      'shared/turns',
      'shared/webhooks',
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
