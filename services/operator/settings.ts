import { z } from 'zod';
import type { SettingsInForce } from '../state/settings-in-force.ts';
import { defineOperation, type OperatorContext } from './operation.ts';

/** Shows the settings in force in the server for `varve settings`. Callers over HTTP use the path of the resource. */
export const settingsOperation = defineOperation({ form: z.strictObject({}), run: showSettings });

async function* showSettings({ settings }: OperatorContext): AsyncGenerator<SettingsInForce> {
  if (settings === undefined) throw new Error('no server runs on the data directory: start it first');
  yield settings();
}
