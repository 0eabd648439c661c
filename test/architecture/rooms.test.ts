import { describe, expect, it } from 'vitest';
import { arrowsOf, readRooms, roomViolations } from '../support/rooms.ts';

const ROWS = [
  '| `shared` | helpers | | |',
  '| `shared/sqlite` | files | | `node:sqlite` |',
  '| `shared/log` | the log. Pure but for `clock.ts` | | `@scope/*` |',
  '| `shared/log/sqlite` | the log in a file | `shared/log`, `shared/sqlite` | |',
  '| `services/query` | plans | `shared/*` | |',
  '| `services` | all of it | every room above | |',
];
const FILES = [
  'shared/a.ts',
  'shared/sqlite/a.ts',
  'shared/log/a.ts',
  'shared/log/sqlite/a.ts',
  'services/query/a.ts',
  'services/main.ts',
];
/** Imports that use each entry of the rows. */
const IMPORTS = [
  ['shared/sqlite/a.ts', 'node:sqlite'],
  ['shared/log/a.ts', '@scope/client'],
  ['shared/log/a.ts', 'zod'],
  ['shared/log/a.ts', 'node:buffer'],
  ['shared/log/a.ts', 'shared/a.ts'],
  ['shared/log/sqlite/a.ts', 'shared/log/a.ts'],
  ['shared/log/sqlite/a.ts', 'shared/sqlite/a.ts'],
  ['services/query/a.ts', 'shared/log/a.ts'],
  ['services/main.ts', 'shared/log/sqlite/a.ts'],
] as const;

function violations({
  rows = ROWS,
  files = FILES,
  imports = IMPORTS,
}: {
  readonly rows?: readonly string[];
  readonly files?: readonly string[];
  readonly imports?: readonly (readonly [from: string, to: string])[];
}): readonly string[] {
  const page = `# Architecture\n\n## Where things are\n\n${rows.join('\n')}\n\n## One read\n\n| \`elsewhere\` |\n`;
  return roomViolations(
    readRooms(page),
    files,
    imports.map(([from, to]) => ({ from, to })),
  );
}

describe('the table of rooms', () => {
  it('allows what its rows name', () => {
    expect(violations({})).toEqual([]);
  });

  it.each([
    ['a room that no row names', 'services/query/a.ts', 'shared/log/sqlite/a.ts', 'room services/query: '],
    ['a room whose row is below', 'shared/log/a.ts', 'services/query/a.ts', 'upward: '],
    ['a room below, though every room above is allowed', 'services/main.ts', 'services/cli/a.ts', 'upward: '],
    ['a package that another row names', 'services/query/a.ts', '@scope/client', 'room services/query: '],
    ['a package that no row names', 'services/main.ts', 'left-pad', 'room services: '],
    ['a built-in module that another row names', 'services/main.ts', 'node:sqlite', 'room services: '],
  ])('refuses an import of %s', (_what, from, to, expected) => {
    const rows = [...ROWS, '| `services/cli` | the command | | |'];
    const found = violations({
      rows,
      files: [...FILES, 'services/cli/a.ts'],
      imports: [...IMPORTS, [from, to]],
    });
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(expected);
    expect(found[0]).toContain(`${from} → ${to}`);
  });

  it('has a row for every folder, and a folder for every row', () => {
    expect(violations({ files: [...FILES, 'services/new/a.ts'] })).toEqual(['no row: services/new has none']);
    expect(violations({ rows: [...ROWS, '| `services/old` | it | | |'] })).toEqual([
      'no files: services/old has a row',
    ]);
    expect(violations({ rows: [...ROWS, '| `services` | it | | |'] })).toEqual(['two rows: services']);
  });

  it('names no room and no package that is not imported', () => {
    const imports = IMPORTS.filter(([, to]) => to !== 'node:sqlite' && to !== 'shared/sqlite/a.ts');
    expect(violations({ imports })).toEqual([
      'unused entry: shared/sqlite does not import node:sqlite: delete it from its row',
      'unused entry: shared/log/sqlite does not import shared/sqlite: delete it from its row',
    ]);
  });

  it('says which rooms are pure, and which of their files are not', () => {
    const rooms = readRooms(`## Where things are\n${ROWS.join('\n')}`);
    expect(rooms.filter(({ isPure }) => isPure)).toMatchObject([
      { folder: 'shared/log', impure: ['clock.ts'] },
    ]);
  });

  it('throws if there is no table', () => {
    expect(() => readRooms('# Architecture\n')).toThrow('has no table of rooms');
  });
});

describe('imports between rooms', () => {
  it('are counted once, without packages and without imports inside a room', () => {
    const imports = [
      { from: 'services/a.ts', to: 'services/b.ts' },
      { from: 'services/a.ts', to: 'shared/a.ts' },
      { from: 'services/b.ts', to: 'shared/b.ts' },
      { from: 'services/b.ts', to: 'qs' },
    ];
    expect([...arrowsOf(imports)]).toEqual(['services → shared']);
  });
});
