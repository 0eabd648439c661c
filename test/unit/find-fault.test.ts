import { expect, it } from 'vitest';
import { findFault, type ObservedIndex, type WrittenIndex } from '../../services/elasticsearch/find-fault.ts';

const WRITTEN: WrittenIndex = { index: 'v-tag-draft-1', uuid: 'u', histories: 'h', mapping: 3 };
const CONTENT = { uuid: 'u', isOpen: true, isAssigned: true, histories: 'h', nodes: 'n', operations: 5 };
const DEFINITION = { aliases: ['v-tag-draft'], blocks: [], mapping: 3 };

const as = (content: object = {}, definition: object = {}): ObservedIndex => ({
  content: { ...CONTENT, ...content },
  definition: { ...DEFINITION, ...definition },
});

it.for<[string, ObservedIndex, string | undefined]>([
  ['as it was left', as(), undefined],
  ['with another alias', as({}, { aliases: [] }), undefined],
  ['not there', { content: undefined, definition: undefined }, 'missing'],
  ['there without a shard', { content: undefined, definition: DEFINITION }, 'unassigned'],
  ['without a primary', as({ isAssigned: false, histories: '' }), 'unassigned'],
  ['closed', as({ isOpen: false }), 'closed'],
  ['closed and restored', as({ isOpen: false, histories: 'other' }), 'closed'],
  ['of another identity', as({ uuid: 'other' }), 'replaced'],
  ['of another history', as({ histories: 'other' }), 'restored'],
  ['of another mapping', as({}, { mapping: 4 }), 'mapping'],
  ['read only', as({}, { blocks: ['read_only'] }), 'blocked'],
  ['blocked for changes of its settings', as({}, { blocks: ['metadata'] }), undefined],
  ['of an unknown definition', { content: CONTENT, definition: undefined }, undefined],
])('checks an index %s', ([, observed, kind]) => {
  expect(findFault(WRITTEN, observed)?.kind).toBe(kind);
});

it('trusts an index whose identity is not known yet', () => {
  const unknown = { ...WRITTEN, uuid: undefined, histories: undefined, mapping: undefined };
  expect(findFault(unknown, as({ uuid: 'any', histories: 'any' }, { mapping: 9 }))).toBeUndefined();
});
