/** Letters and signs that HTML names. */
const NAMED: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['szlig', 'ß'],
  ['aelig', 'æ'],
  ['AElig', 'Æ'],
  ['oelig', 'œ'],
  ['OElig', 'Œ'],
  ['oslash', 'ø'],
  ['Oslash', 'Ø'],
  ['eth', 'ð'],
  ['ETH', 'Ð'],
  ['thorn', 'þ'],
  ['THORN', 'Þ'],
]);

/** Accents behind a letter in names such as `eacute`. */
const ACCENTS: ReadonlyMap<string, string> = new Map([
  ['grave', '\u0300'],
  ['acute', '\u0301'],
  ['circ', '\u0302'],
  ['tilde', '\u0303'],
  ['uml', '\u0308'],
  ['ring', '\u030a'],
  ['caron', '\u030c'],
  ['cedil', '\u0327'],
]);

const ACCENTED = new RegExp(`^([a-zA-Z])(${[...ACCENTS.keys()].join('|')})$`);

/** The character that `&eacute;`, `&#233;` or `&#xe9;` is; undefined: none that belongs to words. */
export function decodeEntity(entity: string): string | undefined {
  const name = entity.slice(1, -1);
  if (name.startsWith('#')) return decodeNumber(name.slice(1));
  const [, letter, accent = ''] = ACCENTED.exec(name) ?? [];
  if (letter !== undefined) return `${letter}${ACCENTS.get(accent) ?? ''}`.normalize('NFC');
  return NAMED.get(name);
}

function decodeNumber(text: string): string | undefined {
  const code = /^x/i.test(text) ? Number.parseInt(text.slice(1), 16) : Number(text);
  const isSurrogate = code >= 0xd800 && code <= 0xdfff;
  return code === 0 || code > 0x10ffff || isSurrogate ? undefined : String.fromCodePoint(code);
}
