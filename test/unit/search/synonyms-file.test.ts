import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { withSynonyms } from '../../../services/cli/settings/read-synonyms.ts';
import { nameShape } from '../../../services/delivery/generation.ts';
import { languageOf } from '../../../shared/search/languages.ts';
import { searchOf } from '../../../shared/search/search-settings.ts';
import { synonymsIn } from '../../../shared/search/synonyms.ts';
import { BOOK, libraryRegistry, TAG, TOWN } from '../../contract/read-index-library.ts';

const registry = libraryRegistry();
const foldedOf = ({ folded }: { readonly folded: string }) => folded;

function read(content: unknown) {
  const folder = mkdtempSync(join(tmpdir(), 'varve-synonyms-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'synonyms.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return withSynonyms(file, registry);
}

it('adds synonyms to those of the schema, by type and locale, and changes ETags', () => {
  const read1 = read({ '*': { '*': [['Café', 'Tea Room']] }, [TOWN]: { en: [['town', 'ville']] } });
  const words = (uid: string, locale: string) => {
    const found = synonymsIn(searchOf(read1, uid).synonyms, locale);
    const others = found?.phrases
      .get(languageOf(locale).stem('tea'))
      ?.map((each) => each.others.map((other) => other.map(foldedOf)));
    return [found?.words.get('town')?.map(foldedOf) ?? [], others ?? []];
  };
  expect(words(TOWN, 'en')).toEqual([['burgh', 'ville'], [[['cafe']]]]);
  expect(words(TOWN, 'fr')).toEqual([['burgh'], [[['cafe']]]]);
  expect(words(BOOK, 'en')).toEqual([[], [[['cafe']]]]);
  expect(synonymsIn(searchOf(registry, TAG).synonyms, 'en')).toBeUndefined();
  const names = [registry, read1, read({ [BOOK]: { en: [['a', 'b']] } })].map(nameShape);
  expect(new Set(names).size).toBe(3);
  expect(nameShape(read({ [BOOK]: { en: [['a', 'b']] } }))).toBe(names[2]);
  expect(withSynonyms(undefined, registry)).toBe(registry);
});

it('has synonyms of one direction, by the stems of a language', () => {
  const fr = read({ [BOOK]: { fr: [{ from: ['cheval'], to: ['Poneys', 'bête de somme'] }] } });
  const found = synonymsIn(searchOf(fr, BOOK).synonyms, 'fr');
  expect(found?.words.get('cheval')).toEqual([{ folded: 'poneys', stem: 'poney' }]);
  expect(found?.words.get('poney')).toBeUndefined();
  expect(found?.phrases.get('cheval')?.[0]?.others.map((other) => other.map(foldedOf))).toEqual([
    ['bete', 'de', 'somme'],
  ]);
  expect(() => read({ [BOOK]: { fr: [{ from: ['cheval'] }] } })).toThrow(/\["fr"\]\[0\]/);
});

it('reports every problem of a file', () => {
  expect(() => withSynonyms('/nowhere.json', registry)).toThrow(
    /^--synonyms \/nowhere\.json cannot be read: ENOENT/,
  );
  expect(() => read('{')).toThrow(/is not JSON/);
  expect(() => read([])).toThrow(/is not as expected, such as \{.*\n {2}the file: /);
  expect(() => read({ [BOOK]: { en: [['alone']] } })).toThrow(/\["api::book\.book"\]\["en"\]\[0\]: /);
  expect(() => read({ [BOOK]: { en: [['one two three four five six', 'b']] } })).toThrow(
    /\[0\]\[0\]: expected one to five words/,
  );
  expect(() => read({ 'api::none.none': {} })).toThrow(
    /names content types that do not exist: api::none\.none\. There are .*api::book\.book/,
  );
});
