import { loadOptional } from '../../../shared/load-optional.ts';

/** Rejects with a sentence that says what to install if sharp is missing. Only the processes that resize load it. */
export async function requireSharp(what: string): Promise<void> {
  await loadOptional(what, async () => import.meta.resolve('sharp'));
}
