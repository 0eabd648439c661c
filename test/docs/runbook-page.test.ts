import { expect, it } from 'vitest';
import { CONDITIONS } from '../../services/operating/condition-table.ts';
import { runbookPage } from './runbook-page.ts';

it('docs/runbook.md has the table of rows, with one for each condition', async () => {
  const page = runbookPage();
  await expect(page).toMatchFileSnapshot('../../docs/runbook.md');
  for (const code of Object.keys(CONDITIONS)) expect(page).toContain(`\`${code}\``);
});
