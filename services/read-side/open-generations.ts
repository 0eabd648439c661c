import { openDocumentGenerations } from './document-generations.ts';
import { openRowGenerations } from './row-generations.ts';
import type { ServedGenerations, ServedGenerationsOptions } from './served-generations.ts';

/** Opens a generation's graph. */
export function openServedGenerations(options: ServedGenerationsOptions): ServedGenerations {
  const { outside } = options.plan ?? {};
  return outside === undefined ? openRowGenerations(options) : openDocumentGenerations(options, outside);
}
