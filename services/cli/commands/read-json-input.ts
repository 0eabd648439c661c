import { text } from 'node:stream/consumers';
import { InvalidSettings } from '../settings/settings.ts';

/** Reads JSON from stdin. Throws InvalidSettings, which shows `example`, for other input. */
export async function readJsonInput(example: string): Promise<unknown> {
  try {
    return JSON.parse(await text(process.stdin));
  } catch (error) {
    throw new InvalidSettings(`stdin must be JSON such as ${example}: ${(error as Error).message}`);
  }
}
