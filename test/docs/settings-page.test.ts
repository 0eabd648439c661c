import { expect, it } from 'vitest';
import { SERVE_SETTINGS, SETTING_GROUPS } from '../../services/cli/settings/settings.ts';
import { settingsFileSchema } from '../../services/cli/settings/settings-file.ts';
import { settingsPage } from './settings-page.ts';

it('docs/settings.md equals the table of settings', async () => {
  await expect(settingsPage()).toMatchFileSnapshot('../../docs/settings.md');
});

it('docs/varve.schema.json equals the forms of the settings', async () => {
  const text = `${JSON.stringify(settingsFileSchema(), null, 2)}\n`;
  await expect(text).toMatchFileSnapshot('../../docs/varve.schema.json');
});

it('has every setting in one group of at most twelve', () => {
  const names = Object.values(SETTING_GROUPS).flatMap((table) => Object.keys(table));
  expect(names.toSorted()).toEqual(Object.keys(SERVE_SETTINGS).toSorted());
  for (const [group, table] of Object.entries(SETTING_GROUPS))
    expect(Object.keys(table).length, group).toBeLessThanOrEqual(12);
});
