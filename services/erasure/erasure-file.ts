import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { valueOfJson } from '../../shared/json.ts';

/** File of a data directory with one line for each erasure. Lines are only added. */
const FILE = 'erasures.jsonl';

/** A line of the file: an order that was carried out. `id`: that of its event. */
export const ERASURE_LINE = z.object({
  id: z.string().min(1),
  type: z.string().min(1),
  documentId: z.string().min(1),
  reason: z.string().nullable(),
  at: z.iso.datetime(),
});

export type ErasureLine = z.output<typeof ERASURE_LINE>;

/** Adds the orders that the file of a data directory lacks, and syncs it to the disk. */
export function noteErasures(data: string, orders: readonly ErasureLine[]): void {
  const file = join(data, FILE);
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const noted = new Set(text.split('\n').map((line) => ERASURE_LINE.safeParse(valueOfJson(line)).data?.id));
  const lines = orders
    .filter(({ id }) => !noted.has(id))
    .map(({ id, type, documentId, reason, at }) => JSON.stringify({ id, type, documentId, reason, at }));
  if (lines.length === 0) return;
  // A power loss may have cut the last line.
  const start = text === '' || text.endsWith('\n') ? '' : '\n';
  appendFileSync(file, `${start}${lines.join('\n')}\n`, { mode: 0o600, flush: true });
}

/** Reads such a file. Throws a message if a line names none. The last line may be cut. */
export function readErasures(file: string): readonly ErasureLine[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.flatMap((text, at) => {
    const parsed = ERASURE_LINE.safeParse(valueOfJson(text));
    if (parsed.success) return [parsed.data];
    if (text === '' || at === lines.length - 1) return [];
    throw new Error(
      `line ${at + 1} of ${file} does not name an erasure: copy erasures.jsonl from a data directory`,
    );
  });
}
