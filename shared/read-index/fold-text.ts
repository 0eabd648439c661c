/**
 * Folds the case of a text for the `…i` operators, as PostgreSQL's LOWER() does in locale C.UTF-8. Each code point gets its simple
 * lower-case mapping (SEMANTICS section 2). Σ becomes σ (a final ς stays), İ becomes i, ß and ı stay. There is no accent folding and no
 * normalisation. Values and operands of every engine use this function.
 */
export function foldText(text: string): string {
  // In ASCII and Latin-1, which is most text, toLowerCase is the simple mapping.
  if (isLatin1(text)) return text.toLowerCase();
  let folded = '';
  for (const char of text) folded += foldCodePoint(char);
  return folded;
}

function isLatin1(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0xff) return false;
  return true;
}

function foldCodePoint(char: string): string {
  if (char === 'İ') return 'i';
  const lower = char.toLowerCase();
  // A mapping to several code points is a full mapping. Then the simple mapping of the character is the character itself.
  return lower.length === char.length ? lower : char;
}
