import { BaseResolver, createConfig, lintDocument, Source } from '@redocly/openapi-core';

/** Returns Redocly's findings on an OpenAPI document, one line each. Its strictest rules apply, and every warning counts. */
export async function lintOpenApi(document: unknown): Promise<readonly string[]> {
  const config = await createConfig({
    extends: ['recommended-strict'],
    // The package has no own licence that the document could name.
    rules: { 'info-license': 'off' },
  });
  const text = JSON.stringify(document);
  const findings = await lintDocument({
    // Parsed here, since the linter would parse the text as YAML, which takes as long as its rules.
    document: { source: new Source('/openapi.json', text), parsed: JSON.parse(text) as unknown },
    externalRefResolver: new BaseResolver(config.resolve),
    config,
  });
  return findings.map(
    ({ ruleId, message, location: [place] }) => `${ruleId}: ${message} at ${place?.pointer}`,
  );
}
