import { openBrowser } from '../support/chromium.ts';
import { type Comparison, comparePages } from './page-contents.ts';

/** Compares pages in a browser and prints the differences. Sets the exit code to 1 if there are any. */
export async function printComparison(comparison: Comparison): Promise<void> {
  const browser = await openBrowser();
  try {
    let equal = 0;
    let different = 0;
    for await (const found of comparePages(browser.context, comparison)) {
      const { page, differences, texts, pictures } = found;
      if (differences.length === 0) equal++;
      else different++;
      const verdict = differences.length === 0 ? 'equal' : 'DIFFERS';
      console.log(`${verdict}  ${page}  ${texts} lines, ${pictures} pictures`);
      for (const difference of differences) console.log(`  ${difference}`);
    }
    console.log(`${equal} pages equal, ${different} different`);
    process.exitCode = different === 0 ? 0 : 1;
  } finally {
    await browser.close();
  }
}

/** Parses a list of paths such as `/,/blog`. */
export function pageList(text: string): readonly string[] {
  return text.split(',').map((page) => page.trim());
}
