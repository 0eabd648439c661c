import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openContentGraph } from '../../projections/graph/content-graph.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { created, createLog, DEFINITIONS, withFolder } from './graph-fixture.ts';

/** Tests how long the graph remembers a command while clocks are wrong or are set. */
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const START = Date.UTC(2026, 0, 1);

/** A number of commands of clients, `every` milliseconds apart. The clock is wrong by `off` milliseconds. */
type Stretch = { readonly commands: number; readonly every: number; readonly off: number };

/** Opens the graph again for each stretch. Returns the real times of the commands that it still knows at the end. */
function knownAfter(stretches: readonly Stretch[]): {
  readonly known: readonly number[];
  readonly end: number;
} {
  return withFolder((folder) => {
    const file = join(folder, 'graph.db');
    const log = createLog();
    const times: number[] = [];
    let time = 0;
    const stored = (off: number): StoredEvent[] => {
      const n = times.push(time) - 1;
      const at = new Date(START + time + off).toISOString();
      const command = { id: `command ${n}`, request: 'digest' };
      return log
        .add(created('tag', `tag${n}`))
        .map((event) => ({ ...event, metadata: { ...event.metadata, at, command } }));
    };
    const replay = (events: readonly StoredEvent[]) => {
      const graph = openContentGraph(file);
      for (let n = 0; n < events.length; n += 250) graph.replay(events.slice(n, n + 250));
      const known = times.filter((_time, n) => graph.reader.command(`command ${n}`) !== undefined);
      graph.close();
      return known;
    };
    let known = replay(log.add(...DEFINITIONS));
    for (const { commands, every, off } of stretches) {
      const events: StoredEvent[] = [];
      for (let n = 0; n < commands; n++) {
        time += every;
        events.push(...stored(off));
      }
      known = replay(events);
    }
    return { known, end: time };
  });
}

/** Expects that all commands of the last day are known. */
function expectKept({ known, end }: ReturnType<typeof knownAfter>, count: number): void {
  expect(known.filter((time) => end - time <= DAY)).toHaveLength(count);
}

it('forgets a command after a day of commands, and an hour', () => {
  const { known, end } = knownAfter([{ commands: 4_000, every: MINUTE, off: 0 }]);
  const oldest = end - Math.min(...known);
  expect(oldest).toBeGreaterThan(DAY);
  // A sweep is due after every thousand commands.
  expect(oldest).toBeLessThanOrEqual(DAY + HOUR + 1_250 * MINUTE);
});

const YEAR = 365 * DAY;
it.each<[string, readonly number[]]>([
  ['forward', [0, YEAR]],
  ['back', [0, -YEAR]],
  ['forward and back', [0, YEAR, 0]],
  ['back and forward', [0, -YEAR, 0]],
  ['to and fro by hours', [0, 5 * HOUR, 0, 30 * HOUR, -30 * HOUR, 0]],
  ['to and fro by less than a minute', [0, 50 * SECOND, 0, 50 * SECOND, 0]],
])('forgets no command early when the clock is set %s', (_name, offsets) => {
  const stretches = offsets.map((off) => ({ commands: 1_100, every: SECOND, off }));
  expectKept(knownAfter(stretches), 1_100 * offsets.length);
});

it('forgets no command early when every second one is written by a clock a year ahead', () => {
  const stretches = Array.from({ length: 40 }, (_unused, n) => ({
    ...{ commands: 60, every: SECOND, off: (n % 2) * YEAR },
  }));
  expectKept(knownAfter(stretches), 40 * 60);
});

it('forgets none early after a time without commands, also if the clock was set meanwhile', () => {
  const stretches = [
    { commands: 10, every: SECOND, off: 0 },
    { commands: 1, every: 20 * HOUR, off: 0 },
    { commands: 1_500, every: SECOND, off: 7 * DAY },
  ];
  expectKept(knownAfter(stretches), 1_511);
});

it('forgets no command early, with any clocks', () => {
  const stretch = fc.record({
    commands: fc.integer({ min: 1, max: 1_200 }),
    every: fc.constantFrom(0, 10, SECOND, 30 * SECOND),
    off: fc.oneof(fc.constant(0), fc.integer({ min: -50, max: 50 }), fc.integer({ min: -YEAR, max: YEAR })),
  });
  fc.assert(
    fc.property(fc.array(stretch, { minLength: 2, maxLength: 5 }), (stretches) => {
      const written = stretches.flatMap(({ commands, every }) => Array<number>(commands).fill(every));
      const { known, end } = knownAfter(stretches);
      let time = 0;
      const times = written.map((every) => {
        time += every;
        return time;
      });
      const young = times.filter((each) => end - each <= DAY);
      expect(known.filter((each) => end - each <= DAY)).toHaveLength(young.length);
    }),
    { numRuns: 8 },
  );
});
