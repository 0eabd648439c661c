import type { LoginState } from '../../../shared/access/login-state.ts';
import { readDatabaseClient } from '../../project/read-database-client.ts';
import type { ServeSettings } from '../settings/settings.ts';

/** Returns the differences from the project's Strapi, one line each. `login`: absent if the process has no users. */
export function startNotes(
  settings: ServeSettings,
  codeNotes: readonly string[],
  login?: LoginState,
): readonly string[] {
  return [...codeNotes, ...comparisonNote(settings), ...loginNote(settings, login)];
}

function comparisonNote({ content, strapi }: ServeSettings): readonly string[] {
  if (readDatabaseClient(content.contentTypes) !== 'sqlite') return [];
  const how =
    strapi.contains === 'case-insensitive'
      ? 'they do so here too'
      : 'here they compare case: --contains case-insensitive changes that';
  return [`config/database says sqlite, where $contains, $startsWith and $endsWith ignore case: ${how}`];
}

function loginNote({ login, following }: ServeSettings, state?: LoginState): readonly string[] {
  if (following.follow !== undefined || state === undefined) return [];
  if (!login.login) return ['nobody can sign in (/api/auth): --login turns that on'];
  if (state.switches.allow_register) return [];
  return [
    'nobody can register: PUT /_varve/login with {"data": {"allow_register": true}} allows it (docs/login.md)',
  ];
}
