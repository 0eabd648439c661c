import { loadOptional } from '../../shared/load-optional.ts';
import type { Tracing } from './tracing.ts';

/**
 * Starts tracing as OpenTelemetry's own variables say (OTEL_EXPORTER_OTLP_ENDPOINT, _HEADERS, OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER …).
 * Without an endpoint it returns undefined, and loads none of OpenTelemetry's code.
 */
export async function startTracing(
  environment: NodeJS.ProcessEnv,
  version: string,
): Promise<Tracing | undefined> {
  const endpoint =
    environment['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] ?? environment['OTEL_EXPORTER_OTLP_ENDPOINT'];
  if (!endpoint || environment['OTEL_SDK_DISABLED'] === 'true') return undefined;
  const { createOpenTelemetry } = await loadOptional(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    () => import('./open-telemetry.ts'),
  );
  return createOpenTelemetry(environment, version);
}
