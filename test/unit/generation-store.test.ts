import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type GenerationStore, openGenerationStore } from '../../projections/generations/generation-store.ts';

const AT = '2030-01-01T00:00:00.000Z';
let data: string;
let store: GenerationStore;
beforeEach(() => {
  data = mkdtempSync(`${tmpdir()}/varve-generations-`);
  store = openGenerationStore(data);
});
afterEach(() => {
  store.close();
  rmSync(data, { recursive: true });
});

const states = () => store.generations().map(({ number, state }) => `${number} ${state}`);

describe('the record of generations', () => {
  it('begins with the graph of a release without generations', () => {
    expect(states()).toEqual(['1 live']);
    expect(store.rebuild()).toBeUndefined();
  });

  it('has one rebuild at a time, after whose end the next one can begin', () => {
    const first = store.begin({ graph: true }, AT);
    expect(first).toMatchObject({ generation: 2, phase: 'replaying', wanted: 'run' });
    expect(() => store.begin({ graph: true }, AT)).toThrow('is still running');
    store.setLive(2);
    expect(states()).toEqual(['1 kept', '2 live']);
    expect(store.rebuild()?.phase).toBe('done');
    expect(store.begin({ graph: false }, AT)).toMatchObject({ generation: 3, phase: 'copying' });
  });

  it('never gives a number twice', () => {
    const { id, generation } = store.begin({ graph: true }, AT);
    store.forget(generation);
    store.enter(id, 'cancelled');
    expect(store.begin({ graph: true }, AT).generation).toBe(3);
    expect(states()).toEqual(['1 live', '3 building']);
  });

  it('is the same for other processes and after a restart', () => {
    const { id } = store.begin({ graph: true, type: 'api::a.a', world: 'draft' }, AT);
    const other = openGenerationStore(data);
    store.advance(id, { done: 5, total: 10, rate: 1, lag: 2 });
    store.noteDifferences([{ group: 'g', name: 'n', before: 'a', after: undefined }]);
    expect(other.rebuild()).toEqual(store.rebuild());
    expect(other.rebuild()).toMatchObject({ scope: { type: 'api::a.a' }, progress: { done: 5 } });
    expect(other.differences()).toEqual([{ group: 'g', name: 'n', before: 'a', after: undefined }]);
    other.close();
  });

  it('refuses to remove the live generation, and to make a missing one live', () => {
    expect(() => store.forget(1)).toThrow('generation 1 serves');
    expect(() => store.setLive(7)).toThrow('no generation 7');
    expect(states()).toEqual(['1 live']);
  });
});
