import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import * as z from 'zod';

/** Progress of the first copy of a followed Strapi. */
export type FirstCopy = ReturnType<typeof openFirstCopy>;

/** `import`: an archive is read first. `done`: what is stored was a whole copy once. */
export type FirstCopyPhase = 'import' | 'copy' | 'done';

const MARK = z.object({ phase: z.enum(['import', 'copy']), epoch: z.number() });
type Mark = z.output<typeof MARK>;

/**
 * Remembers a copy that is not whole yet in a file, so that a process that is killed meanwhile continues it. Another process may have
 * continued it instead: then its claim lies between, and the file says nothing any more.
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
    /** A term of this process begins. Returns the phase that it begins in. */
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
    // Cut off while it was written: nothing had been copied yet, or next to nothing.
    return undefined;
  }
}
