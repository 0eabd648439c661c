import { expect, it } from 'vitest';
import { readRenamedPaths } from '../../../services/history/renamed-paths.ts';
import type { StoredEvent } from '../../../shared/event-store/event-store.ts';

const TYPE = 'api::page.page';

/** Names of attributes; the value is the earlier name, if the schema names one. */
type Names = Readonly<Record<string, string>>;

function attributesOf(names: Names): object {
  return Object.fromEntries(
    Object.entries(names).map(([name, renamedFrom]) => [
      name,
      { type: 'string', pluginOptions: { varve: { renamedFrom } } },
    ]),
  );
}

/** Reads definitions at the positions 10, 20, …, each with the attributes of the type and of its component. */
async function pathsAfter(...definitions: readonly (readonly [Names, Names])[]) {
  const events = definitions.map(([own, inner], at) => {
    const components = { 'meta.seo': { attributes: attributesOf(inner) } };
    const data = { uid: TYPE, schema: { attributes: attributesOf(own) }, components, defaultLocale: 'en' };
    return { type: 'content-type-defined', position: BigInt(10 * at + 10), data } as unknown as StoredEvent;
  });
  async function* stream() {
    yield* events;
  }
  return readRenamedPaths({ events: { stream }, space: 'varve' }, TYPE);
}

it('follows an attribute through its names, from the position of the event on', async () => {
  const paths = await pathsAfter(
    [{ a: '', seo: '' }, { note: '' }],
    [{ b: 'a', seo: '' }, { remark: 'note' }],
    [{ c: 'b', a: '', meta: 'seo' }, { remark: 'note' }],
  );
  expect(paths('a', 11n)).toEqual(['c']);
  expect(paths('b', 21n)).toEqual(['c']);
  expect(paths('a', 31n)).toEqual(['a']);
  expect(paths('seo/meta.seo/note', 11n)).toEqual(['meta/meta.seo/remark']);
  // A publication after the renaming has the name of the edit before it.
  expect(paths('b', 31n)).toEqual(['c']);
});

it('knows a renaming that was undone, and an attribute whose values two others have', async () => {
  const undone = await pathsAfter([{ a: '' }, {}], [{ b: 'a' }, {}], [{ a: '' }, {}]);
  expect(undone('a', 11n)).toEqual(['a']);
  expect(undone('b', 21n)).toEqual(['a']);
  const both = await pathsAfter([{ a: '' }, {}], [{ a: '', b: 'a' }, {}]);
  expect(both('a', 11n)).toEqual(['a', 'b']);
  const gone = await pathsAfter([{ a: '' }, {}], [{ b: '' }, {}]);
  expect(gone('a', 11n)).toEqual(['a']);
});
