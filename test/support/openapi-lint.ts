import { createConfig, lintFromString } from '@redocly/openapi-core';

/** Redocly's findings on an OpenAPI document, in its strictest set of rules (every warning counts), one line each. */
export async function lintOpenApi(document: unknown): Promise<readonly string[]> {
  const config = await createConfig({
    extends: ['recommended-strict'],
    // The package has no licence of its own to name.
    rules: { 'info-license': 'off' },
  });
  const findings = await lintFromString({
    source: JSON.stringify(document),
    absoluteRef: '/openapi.json',
    config,
  });
  return findings.map(
    ({ ruleId, message, location: [place] }) => `${ruleId}: ${message} at ${place?.pointer}`,
  );
}
