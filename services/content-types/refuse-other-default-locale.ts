import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import type { TypeDefinition } from '../../shared/schema/type-definitions.ts';

/**
 * Throws a message if the content has another default locale than this process, such as that of an archive. Requests without a locale would
 * not find its entries.
 */
export function refuseOtherDefaultLocale(
  changed: readonly TypeDefinition[],
  graph: Pick<ContentGraph, 'definition' | 'size'>,
): void {
  for (const { uid, defaultLocale } of changed) {
    const text = graph.definition(uid);
    const before = text === undefined ? undefined : (JSON.parse(text) as TypeDefinition);
    if (before === undefined || before.defaultLocale === defaultLocale || !isLocalized(before)) continue;
    if (graph.size().rows === 0) continue;
    throw new Error(
      `the default locale of the content is ${before.defaultLocale}, and of this process ${defaultLocale}: pass --default-locale ${before.defaultLocale}`,
    );
  }
}

function isLocalized({ schema }: TypeDefinition): boolean {
  const { pluginOptions } = (schema ?? {}) as {
    readonly pluginOptions?: { readonly i18n?: { readonly localized?: boolean } };
  };
  return pluginOptions?.i18n?.localized === true;
}
