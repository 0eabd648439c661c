/** Narrowest column of a table that does not fit: a name is still recognised. */
const NARROWEST = 8;

/** Returns the columns of the terminal on stdout; undefined if stdout is a file or a pipe, whose lines are not cut. */
export function columnsOfTerminal(): number | undefined {
  return process.stdout.isTTY ? process.stdout.columns : undefined;
}

/**
 * Returns rows of cells as text, in columns as wide as their widest cell. If the table is wider than the terminal, the widest columns are
 * cut, with `…`.
 */
export function textTable(
  rows: readonly (readonly string[])[],
  available: number | undefined = columnsOfTerminal(),
): string {
  const widest = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const widths = available === undefined ? widest : narrow(widest, available - 2 * (widest.length - 1));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cutLine(cell, widths[column] ?? 0).padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Makes the widest columns narrower, one character after the other, until all fit. */
function narrow(widest: readonly number[], available: number): readonly number[] {
  const widths = [...widest];
  for (let excess = widths.reduce((sum, width) => sum + width, 0) - available; excess > 0; excess--) {
    const most = Math.max(...widths);
    if (most <= NARROWEST) break;
    widths[widths.indexOf(most)] = most - 1;
  }
  return widths;
}

/** Returns a line that is not wider than the terminal. undefined: there is no terminal. */
export function cutLine(line: string, columns: number | undefined): string {
  return columns === undefined || line.length <= columns
    ? line
    : `${line.slice(0, Math.max(0, columns - 1))}…`;
}

/** Breaks a text between words into lines that are not wider than the terminal. */
export function wrapLines(text: string, columns: number | undefined): readonly string[] {
  if (columns === undefined) return [text];
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < columns)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
