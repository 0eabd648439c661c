import { readFileSync, statSync } from 'node:fs';

/** Larger files are generated: code that people write is small. */
const MAX_BYTES = 512 * 1024;

/** Returns the code of a file without its comments; an empty text if the file is large. */
export function readCode(file: string): string {
  return statSync(file).size > MAX_BYTES ? '' : withoutComments(readFileSync(file, 'utf8'));
}

/** Matches a text, or a comment. A text may contain what looks like a comment. */
const TEXT_OR_COMMENT =
  /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;

function withoutComments(code: string): string {
  return code.replace(TEXT_OR_COMMENT, (found) => (found.startsWith('/') ? ' ' : found));
}

/** Returns the objects and blocks in the code at any depth, as text with their braces. */
export function objectTexts(code: string): readonly string[] {
  const objects: string[] = [];
  const starts: number[] = [];
  for (let at = 0; at < code.length; at++) {
    if (code[at] === '{') starts.push(at);
    else if (code[at] === '}') {
      const start = starts.pop();
      if (start !== undefined) objects.push(code.slice(start, at + 1));
    }
  }
  return objects;
}

/** Returns the text of an object without the objects and lists in it. */
export function ownMembers(object: string): string {
  let text = object.slice(1, -1);
  for (let before = ''; before !== text; ) {
    before = text;
    text = text.replace(/\{[^{}]*\}|\[[^[\]]*\]/g, '');
  }
  return text;
}

/** Returns the value of a member that is a literal text. */
export function literalMember(object: string, name: string): string | undefined {
  return new RegExp(`(?<![\\w$])['"]?${name}['"]?\\s*:\\s*(['"\`])([^'"\`$]*)\\1`).exec(object)?.[2];
}
