import { effect, signal, untracked } from '@preact/signals';
import { keepToken, messageOf, refusedToken, send, token } from './api.ts';
import { state } from './live.ts';
import type { ServerState, Type } from './server.ts';

/** Rights of the caller: everything, content that it may read, nothing, or not known yet. */
export const rights = signal<'asking' | 'full' | 'content' | 'none'>('asking');

/** Content types that the caller may read. */
export const types = signal<readonly Type[]>([]);

/** True if everybody on this machine may do everything. */
export const isOpen = signal(false);

/** Reason why the last sign-in was refused. */
export const refusal = signal<string | null>(null);

/** Asks the server what the caller may see. Never rejects: without an answer the caller stays unknown, and is asked again. */
export async function findRights(): Promise<void> {
  try {
    const answer = await send({ method: 'GET', path: '/_varve/state' });
    if (answer.status === 401) return refuse(messageOf(answer));
    refusedToken.value = null;
    const found = await send({ method: 'GET', path: '/api/content-type-builder/content-types' });
    types.value = found.ok ? (found.json as { data: readonly Type[] }).data : [];
    if (answer.ok) {
      state.value = (answer.json as { data: ServerState }).data;
      isOpen.value = token.value === null;
      rights.value = 'full';
    } else if (answer.status !== 403 && answer.status !== 404) {
      // The server is starting.
      setTimeout(findRights, 2_000);
    } else if (types.value.length > 0) {
      rights.value = 'content';
    } else {
      refuse(token.value === null ? null : 'This token may not read anything that the console shows.');
    }
  } catch {
    setTimeout(findRights, 2_000);
  }
}

function refuse(reason: string | null): void {
  state.value = null;
  refusal.value = reason;
  keepToken(null);
  rights.value = 'none';
}

/** Signs in with a token, which the tab keeps if the server knows it. */
export function enter(value: string): Promise<void> {
  refusal.value = null;
  keepToken(value);
  return findRights();
}

/** Forgets the token, and shows what everybody may see. */
export function leave(): Promise<void> {
  state.value = null;
  refusal.value = null;
  rights.value = 'asking';
  keepToken(null);
  return findRights();
}

/** Asks for the rights again when the server no longer knows the token of an open page. */
effect(() => {
  const refused = refusedToken.value;
  const isRefused = untracked(() => {
    const isOpened = rights.value === 'full' || rights.value === 'content';
    return isOpened && refused !== null && refused === token.value;
  });
  // Never rejects.
  if (isRefused) void untracked(findRights);
});
