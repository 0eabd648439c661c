import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { html } from './html.ts';

/** Parts that are loaded when they are first opened. */
const PARTS: Readonly<Record<string, () => Promise<ComponentType>>> = {
  content: async () => (await import('./content.ts')).ContentPart,
  projections: async () => (await import('./projections.ts')).ProjectionsPart,
  log: async () => (await import('./log.ts')).LogPart,
  delivery: async () => (await import('./delivery.ts')).DeliveryPart,
  access: async () => (await import('./access.ts')).AccessPart,
  releases: async () => (await import('./releases.ts')).ReleasesPart,
  erasures: async () => (await import('./erasures.ts')).ErasuresPart,
  backup: async () => (await import('./backup.ts')).BackupPart,
  settings: async () => (await import('./settings.ts')).SettingsPart,
  query: async () => (await import('./query.ts')).QueryPart,
};

/** Shows a part of the console once its modules are there. */
export function Loaded({ name }: { readonly name: string }) {
  const [shown, setShown] = useState<{ readonly name: string; readonly part: ComponentType }>();
  useEffect(() => {
    let isWanted = true;
    // The light of the page shows that the server does not answer.
    PARTS[name]?.().then(
      (part) => isWanted && setShown({ name, part }),
      () => {},
    );
    return () => {
      isWanted = false;
    };
  }, [name]);
  return shown?.name === name ? html`<${shown.part} />` : html`<p class="quiet" role="status">Loading…</p>`;
}
