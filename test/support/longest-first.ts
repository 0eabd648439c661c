import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { LONGEST } from './longest-files.ts';

/** Sorts the longest files first, then all others in Vitest's own order: failed files, then large files. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

function rank({ moduleId }: TestSpecification): number {
  const at = LONGEST.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
  return at === -1 ? LONGEST.length : at;
}
