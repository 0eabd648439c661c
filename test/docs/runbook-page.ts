import { readFileSync } from 'node:fs';
import { runbookRows } from '../../services/operating/runbook.ts';

const PAGE = new URL('../../docs/runbook.md', import.meta.url);
const HEADING = '| what | what it is, and what to do |\n|---|---|\n';

/** Returns docs/runbook.md with the table of `services/operating/runbook.ts`. */
export function runbookPage(): string {
  const page = readFileSync(PAGE, 'utf8');
  const start = page.indexOf(HEADING) + HEADING.length;
  const end = page.indexOf('\n\n', start);
  const rows = runbookRows().map(({ what, text, conditions = [] }) => {
    const codes = conditions
      .filter((code) => !what.includes(`\`${code}\``))
      .map((code) => ` (\`${code}\`)`)
      .join('');
    return `| ${what}${codes} | ${text} |`;
  });
  return page.slice(0, start) + rows.join('\n') + page.slice(end);
}
