import { loadOptional } from '../../shared/load-optional.ts';
import type { SettingOrigins } from './settings/setting-origins.ts';
import type { ServeSettings } from './settings/settings.ts';

type Serve = (
  settings: ServeSettings,
  options: object,
  argument: unknown,
  origins: SettingOrigins,
) => Promise<void>;

/** Loads the code of `varve serve` or `varve project`. */
export async function serving(role: 'serve' | 'project'): Promise<Serve> {
  const { serve } = await import('./serve/serve.ts');
  return (settings, _options, _argument, origins) => serve(settings, role, origins);
}

/** Loads the code of `varve api`. */
export async function servingApi(): Promise<Serve> {
  const { serveApi } = await loadOptional('varve api', () => import('./serve/serve-api.ts'));
  return (settings, _options, _argument, origins) => serveApi(settings, origins);
}
