import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import * as z from 'zod';

/** Progress of the first copy of a followed Strapi. */
export type FirstCopy = ReturnType<typeof openFirstCopy>;

/** Phase of the first copy: `import` reads an archive, `copy` reads Strapi, `done` follows a complete copy. */
export type FirstCopyPhase = 'import' | 'copy' | 'done';

const MARK = z.object({ phase: z.enum(['import', 'copy']), epoch: z.number() });
type Mark = z.output<typeof MARK>;

/**
 * Records an incomplete first copy in a file, so that a process that was killed can continue it. If another process became leader since, it
 * has continued the copy: its claim makes the file invalid.
 */
export function openFirstCopy(file: string, isEmpty: () => boolean) {
  let mark = readMark(file);
  let phase: FirstCopyPhase = mark?.phase ?? (isEmpty() ? 'import' : 'done');
  const write = (now: Mark | undefined) => {
    if (now === undefined) rmSync(file, { force: true });
    else writeFileSync(file, JSON.stringify(now));
    mark = now;
  };
  return {
    phase: () => phase,
    /** Begins a term of this process as leader. Returns its first phase. */
    begin(epoch: number): FirstCopyPhase {
      const isOwn = mark !== undefined && epoch <= mark.epoch + 1;
      phase = isEmpty() ? 'import' : isOwn ? (mark?.phase ?? 'done') : 'done';
      write(phase === 'done' ? undefined : { phase, epoch });
      return phase;
    },
    enter(next: FirstCopyPhase): void {
      phase = next;
      write(next === 'done' || mark === undefined ? undefined : { ...mark, phase: next });
    },
  };
}

function readMark(file: string): Mark | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return MARK.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    // The process ended while it wrote the file, before it had copied more than a little.
    return undefined;
  }
}
