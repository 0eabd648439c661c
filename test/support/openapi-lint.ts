import { BaseResolver, createConfig, lintDocument, Source } from '@redocly/openapi-core';

/** Redocly's findings on an OpenAPI document, in its strictest set of rules (every warning counts), one line each. */
export async function lintOpenApi(document: unknown): Promise<readonly string[]> {
  const config = await createConfig({
    extends: ['recommended-strict'],
    // The package has no licence of its own to name.
    rules: { 'info-license': 'off' },
  });
  const text = JSON.stringify(document);
  const findings = await lintDocument({
    // Parsed here: the linter would read the text as YAML, which takes as long as its rules.
    document: { source: new Source('/openapi.json', text), parsed: JSON.parse(text) as unknown },
    externalRefResolver: new BaseResolver(config.resolve),
    config,
  });
  return findings.map(
    ({ ruleId, message, location: [place] }) => `${ruleId}: ${message} at ${place?.pointer}`,
  );
}
